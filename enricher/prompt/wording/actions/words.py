"""List the words by which ``enricher.prompt.wording.actions`` recognises an action in a prompt, in nine languages.

Each table is a text with one row per line; an indented line continues the one above. The hook parses these tables.
"""

from __future__ import annotations

POLITE = """
which command do i use to | what is the command to | what's the command to | what is the way to | what's the way to |
  do not forget to | when you're done | i'd like you to | i would like to | don't forget to | s'il vous plaît |
  i want you to | i need you to | make sure you | how should we | s'il te plaît | go ahead and | make sure to |
  feel free to | how should i | how would we | how does one | it's time to | wie kann ich | i'd like to |
  you need to | remember to | how would i | continue to | könntest du | pouvez-vous | we need to | you should |
  help me to | afterwards | should i just | can i just | could i | tu peux | should i | can i | do i |
  be sure to | how do you | how can we | proceed to | maintenant | per favore | пожалуйста |
  could you | would you | should we | i want to | i need to | we should | how do we | how can i | when done |
  once done | all right | carefully | kannst du | bitte mal | por favor | você pode | will you | could we | shall we |
  go ahead | how do i | actually | can you | perfect | you can | you may | help me | finally | alright | time to |
  quickly | locally | peux-tu | peux tu | ensuite | comment | después | please | can we | let us | lastly | try to |
  how to | simply | danach | puedes | depois | adesso | можешь | теперь | may i | great | let's | first | again |
  fully | still | maybe | bitte | jetzt | ahora | luego | agora | затем | потом | давай | okay | good | nice | yeah |
  cool | then | lets | just | also | next | must | dann | puis | pode | puoi | pls | plz | now | yes | yep | and |
  hey | nun | und | mal | ora | poi | как | ok | so | hi | to | et | y | e | и
"""
"""Polite and filler words that may come before the verb of a request."""

ENGLISH = """
commit: make create do add prepare write draft suggest propose give generate compose craft come: commit | commits |
  commit message | commit msg | commit messages | git commit
pull-request: open create make raise submit send file put draft prepare start write update do push give generate: pr |
  prs | pull request | pull-request | merge request | mr | pull requests | pr description | pull request description |
  pr body | pr title | pr text | pr summary
release: cut create make do prepare draft ship tag trigger start perform publish build: release | rc |
  release candidate | new version | next version | patch version | minor version | hotfix release | patch release
release: publish upload: package | packages | npm | pypi | crate | crates.io | library | version | gem | image |
  wheel | extension
release: npm pnpm yarn cargo uv poetry gem twine: publish | upload | push
release: run execute use: npm publish | pnpm publish | yarn publish | cargo publish | uv publish | poetry publish |
  gem push | twine upload
release: bump increase increment raise: version | version number | versions | package version
release: tag: release | version | commit | head
release: create push make: release tag | version tag | git tag | tag
test: run rerun re-run execute launch start kick do rerun try repeat: test | tests | test suite | testsuite |
  test-suite | unit tests | specs | suite | test cases | pytest | jest | vitest | rspec | checks |
  whole check | full check | ci checks | full ci | whole ci | ci locally
test: ensure verify check confirm see validate: tests | test suite | all tests | unit tests
test: fix get debug repair: failing tests | failing test | failed tests | broken tests | tests | test suite |
  test failures
new-test: write add create implement extend generate cover: tests | test | unit test | unit tests | test case | test
  cases | regression test | integration test | integration tests | test coverage | specs | spec
lint: run execute fix check rerun re-run: linter | linters | lint | linting | formatter | formatting | typecheck |
  type check | type checks | type checker | type checking | lint errors | lint issues | linter errors | type errors |
  lint warnings | eslint errors | typecheck errors | type check errors | type-check errors | mypy errors | pyright
  errors | tsc errors | ruff errors | ruff warnings | static checks | pre-commit | pre-commit hooks | types | prettier
  | eslint | ruff | black | flake8 | mypy | pyright | tsc | clippy | rubocop | biome | gofmt | golangci-lint
run: run start launch boot restart serve spin bring: app | application | server | dev server | project | site |
  website | service | services | backend | frontend | program | ui | api | dev environment | it locally |
  this locally
build: build rebuild compile package bundle: project | app | application | package | packages | binary | binaries |
  wheel | docker image | image | everything | bundle | executable | installer | distribution | site | docs |
  release binary | workspace
build: run do trigger make: build | production build | release build | full build
install: install reinstall: app | apk | debug | debug build | debug apk | device | phone | emulator
install: adb: install
deploy: deploy redeploy: app | application | site | website | service | services | backend | frontend | changes |
  branch | version | api | server | worker | workers | function | functions | stack | staging | production | prod |
  everything | update | fix
deploy: do run trigger make start perform: deploy | deployment | redeploy
deploy: ship put bring get take make: live | prod | production
dependency: add install remove drop upgrade update bump pin introduce replace declare: dependency | dependencies |
  dep | deps | dev dependency | dev dependencies | npm package | pip package
setting: add introduce create expose make support define: it configurable | this configurable | setting | config
  option | configuration option | env var | environment variable | env variable | config key | configuration key |
  configuration setting | config setting | feature flag | cli flag | cli option | environment variables | env vars |
  settings | config variable
migration: add create write generate make run apply execute prepare: migration | migrations | database migration |
  db migration | schema migration | data migration | alembic migration
changelog: update add write edit put mention note extend create prepare draft document need: changelog |
  change log | changelog thing | release-notes file | release-notes files | changelog entry | changelog entries |
  changelog file | changelog line | changelog fragment |
  release notes | release note | release notes entry | release-notes | changes.md | changelog.md | changes.rst |
  changelog.rst | history.md | history.rst | news.md | news.rst | entry to the changelog | news fragment |
  newsfragment | news entry | changeset
translation: update regenerate refresh sync add extract compile pull push: translation | translations |
  translation files | locale files | locales | message catalogs | i18n files
contributor: add list credit include put: contributor | contributors | contributors list | authors file | authors list
  | list of contributors | list of authors
"""
"""Rows: an action, verbs with which the clause can begin, and objects, one of which must follow the verb."""

ALONE = """
commit: commit: this these those it them all everything what changes as with and both here that's das es ça esto eso
  isso isto questo это -m -am -s --signoff --amend
commit: squash: this that these those it them all everything both
push: push: this these it them all everything changes to upstream origin and das es ça esto eso isso isto questo
  это -u --force what mal bitte main master
lint: lint: this it everything all code codebase project files and with
lint: format: code codebase everything all project with
lint: reformat: code codebase everything all project with
lint: typecheck: this it everything all code codebase project and with
lint: type-check: this it everything all code codebase project and with
test: test: this it that everything all changes again these them
test: retest: this it that everything all changes again these them
build: rebuild: it everything all again
build: build: it everything all again
build: compile: it everything all again
deploy: deploy: this it that everything changes to again these them all via with
deploy: redeploy: this it that everything changes to again these them all via with
release: release: this it now to as version
release: publish: this it now
release: tag:
release: cut:
"""
"""Rows: an action, a verb that requests it without an object, and words that may follow the verb."""

FOREIGN = """
commit: mach$ mache$ erstell fais faire fait crée haz$ hacer crea faça faz$ fazer fai$ fare сделай создай schreib
  écris escribe escreva scrivi напиши: commit коммит commit-nachricht commit-message
commit: committe commite commitea commita committa committen committer commitear закоммить закоммитить comite:
trigger: passiert passe-t-il pasa$ acontece succede будет произойдет произойдёт: pushe push merge mergen mergear
  pousse fusionne запушу смержу вмержу пуша мержа
push: pushe pushen pushea pushear pusha pushare запушь запушить запуши пушни:
push: mach$ mache$ fais faire haz$ hacer faz$ fazer fai$ fare сделай: push пуш
push: pousse pousser sube$ subir suba manda$ mandar envoie: main master remote remoto origin repo rama cambios commits
pull-request: erstell mach$ mache$ öffne eröffne ouvr crée créer fais abr crea haz$ crie cria faça faz$ fazer apri
  fai$ open aufmach brauch besoin necesit preciso$ precisa serve$ создай сделай открой оформи нужн: pr prs
  pull-request pull pull-реквест пулл-реквест реквест пр merge-request mr
release: veröffentlich publie publier publica publico publique pubblica pubblico опубликуй выпусти: version release
  paket paquet paquete pacote pacchetto пакет npm pypi versión versão versione версию релиз
release: mach$ mache$ erstell fais faire crée haz$ hacer crea faça faz$ fazer crie fai$ fare prépar prepar bereite
  подготовь сделай создай выпусти:
  release релиз
test: führ fuehr ausführen laufen starte lance lancer tourner tourne$ exécut execut ejecut corre$ corro$ correr pasa$
  rod esegui lanci girar запусти прогони выполни: tests testsuite testes pruebas тесты тест test
new-test: schreib ergänz füg écris ajoute rajoute escribe añade agrega escreva escreve adicion scrivi aggiungi напиши
  добавь: tests test testes pruebas prueba teste тест тесты
lint: führ starte lass laufen drüber lance passe$ exécut ejecut pasa$ corre$ rod esegui lanci запусти прогони:
  linter lint линтер formatter clang-format gofmt eslint prettier ruff black flake8 mypy pyright clippy rubocop
  pre-commit
lint: formatier formate formatea formata formatta отформатируй: code code, código codice код projekt projet
run: start starte lance démarre ejecut inicia corre$ arranc rod execut avvi esegui запусти подними: app
  anwendung server application serveur aplicación servidor aplicação applicazione приложение сервер проект projekt
  projet proyecto projeto progetto
build: baue bau kompilier compile construis compila construye builde собери собрать скомпилируй: projekt paket app
  projet paquet proyecto paquete projeto pacote progetto pacchetto проект пакет приложение
deploy: deploye déploie déployer despliega desplegar deploya deployar deployare implanta задеплой задеплоить разверни
  развернуть:
deploy: faça faz$ fai$ haz$ fais mach$ mache$ сделай: deploy deployment деплой
deploy: bring$ stell$ schalt$ mets mettre metti sobe$ subir выкати: live prod production produção producción
  produccion produzione прод прода
dependency: füg hinzufügen installier ergänz ajoute ajouter installe añade agrega instala adicion aggiungi installa
  добавь установи обнови aktualisier actualiza atualiz aggiorna mets: abhängigkeit abhängigkeiten dépendance
  dépendances dependencia dependencias dependência dependências dipendenza dipendenze зависимость зависимости
setting: füg hinzufügen mach$ mache$ ergänz ajoute ajouter añade agrega crea adicion crie aggiungi добавь создай:
  umgebungsvariable einstellung variable paramètre ajuste variável variabile переменную настройку
migration: erstell schreib füg crée ajoute génère crea añade genera crie cria adicion gere накати aggiungi создай
  добавь führ lance ejecut execut esegui запусти выполни: migration migración migração migrazione миграцию миграции
changelog: aktualisier ergänz schreib trag$ trage$ pack$ packe$ setz$ setze$ mets ajoute actualiza añad añád
  pon$ atualiz
  adicion coloca põe aggiorna aggiungi metti escrib escrev scriv écri обнови добавь допиши напиши внеси: changelog
  ченджлог чейнджлог änderungsprotokoll changelog-eintrag changelogeintrag release-notes releasenotes newsfragment
translation: aktualisier ergänz mets$ mettre actualis actualiz atualiz aggiorna обнови: übersetzung übersetzungen
  traduction traductions traducción traducciones tradução traduções traduzioni переводы
contributor: trag$ füg ajoute añad añád adicion aggiungi добавь: contributors contributeurs contribuidores contributori
  контрибьюторы контрибьюторов
"""
"""Rows for European languages other than English: an action, beginnings of verbs, and objects as whole words.

A short clause asks for the action if it has one of the verbs and, if the row has objects, one of these, in any order. A
verb with "$" is a whole word: "fai$" does not match "fails".
"""

INTRANSITIVE = ("laufen", "pasa", "corre", "roda")
"""Verbs that report on the thing in front of them, and order it to be run if it follows: "corre los tests"."""

WIDE = """
test: 运行 | 跑 | 执行: 测试 | 单测
test: 测试一 | 测一: 下
commit: 提交 | コミット:
push: 推送 | プッシュ:
release: 发布 | 发版 | リリース:
deploy: 部署 | 上线 | デプロイ:
trigger: 推送 | push | merge: 会发生什么 | 会怎样 | 会触发
trigger: マージ | プッシュ | push | merge: どうなる | 何が起き | 何が動
push: 推送 | 推 | push: 到main | 到远程 | 到远端 | 到仓库 | 上去 | 一下
push: プッシュ | push: して | お願い
commit: commit: 一下 | して | お願い
commit: 可以 | 帮我: 提交
commit: 提交: 代码 | 更改 | 修改 | 改动 | 变更 | 一下 | 到git | 到 git
commit: 写 | 生成 | 创建: 提交信息 | commit
pull-request: 创建 | 开 | 提 | 发起 | 新建: pr | pull request | 合并请求
release: 发布: 版本 | 新版 | 包 | npm | pypi | release
release: 发个: 版本 | 新版 | release
release: npm | pypi: に公開
deploy: 部署: 到 | 应用 | 服务 | 项目 | 一下 | 上线 | 生产
dependency: 添加 | 增加 | 安装 | 新增 | 升级 | 更新: 依赖
setting: 添加 | 新增 | 增加 | 加一个 | 加个: 环境变量 | 配置项 | 设置项
migration: 创建 | 新增 | 生成 | 添加 | 运行 | 执行 | 写个 | 写一个: 迁移
changelog: 更新 | 修改 | 写 | 添加 | 加到: 变更日志 | 更新日志 | 发布说明 | 发行说明 | changelog
changelog: 变更日志 | 更新日志 | 发布说明 | 发行说明 | changelog: 里也 | 里写 | 里加 | 也写 | 也加 | 加一 | 写一
lint: 格式化: 代码
lint: 运行 | 跑: lint
run: 启动 | 运行: 项目 | 服务 | 应用 | 服务器
build: 构建 | 编译 | 打包: 项目 | 应用 | 镜像 | 一下
build: 怎么 | 如何: 编译 | 构建 | 打包
new-test: 写 | 添加 | 补充 | 增加: 单元测试 | 测试用例 | 单测
new-test: 加个 | 加一个 | 加上 | 补个 | 补上 | 写个: 测试
new-test: 写测试 | 补测试 | 加测试:
translation: 更新 | 同步: 翻译
translation: 翻訳: を更新
contributor: 加到 | 加入 | 添加: 贡献者
contributor: コントリビューター: に追加
test: テスト: 実行 | 走らせ | 回し | 流し
commit: コミット: して | を作 | メッセージを | お願い
pull-request: pr | プルリク | プルリクエスト: を作 | を出 | を開 | 作成して | 出して
release: リリース: して | を作 | を出 | の手順 | 手順
deploy: デプロイ: して | を実行
dependency: 依存: を追加 | をインストール | を更新
setting: 環境変数 | 設定項目: を追加
migration: マイグレーション: を作 | を追加 | を実行
changelog: 変更履歴 | changelog | チェンジログ | リリースノート: を更新 | に追加 | に書 | を書 | も
lint: lint | リント | リンター: を実行 | をかけ | して
lint: フォーマット: して | を実行
run: アプリ | サーバー | サーバ: を起動 | を実行 | を立ち上げ
build: ビルド: して | を実行
new-test: テスト: を書 | を追加 | を作
"""
"""Rows for Chinese and Japanese: an action, first words, and second words, one of which must follow closely.

In a row without second words, the first is the whole clause.
"""

COMMANDS = {
    "lint": "lint", "linter": "lint", "format": "lint", "typecheck": "lint", "test": "test", "build": "build",
    "start": "run", "dev": "run", "deploy": "deploy",
}  # fmt: skip
"""Words before "command" in a question for a command, and the action: "which lint command do I run"."""

GO_ON = """
1 about across after again against also and anyway are as at based because before but by called correctly covering
  describing everywhere explaining first for from green here i if in inside into is it like locally myself named now
  of on once only or over pass passes passing per please pls plz properly quickly since so still succeed summarising
  summarizing thanks that then there they through thx till titled to today too under until upstream using v via
we when where
  which while who with within without work works you yourself according following
"""
"""Words that may follow the object; before any other word, the object counts as the first half of a longer term."""

BETWEEN = """
a additional affected all alpha an another any api backend background beta both broken browser bun cargo cli
  complete concise conventional corresponding current database db debug demo descriptive dev development direct
  docker draft e2e each end-to-end entire entry every existing extra failed failing few final first following for
  frontend full functional git github gitlab go good initial integration it its js last-minute latest live local
  main major meaningful minor missing more my new next nice nightly npm npx of official one optional our package
  patch pending pip pnpm production project project's proper public pypi python quick rc regression related release
  relevant remaining runtime rust same schema semantic separate short simple single small smoke some stable staged
  staging teh test that the these this those three two unit unstaged web whole yarn your
"""
"""Words that may come between the verb and the object, such as "all the" in "run all the tests"."""

RULED = {
    "pr": "pull-request", "prs": "pull-request", "pull": "pull-request", "pull-request": "pull-request",
    "commit": "commit", "commits": "commit", "release": "release", "releases": "release", "changelog": "changelog",
    "migration": "migration", "migrations": "migration", "translation": "translation", "translations": "translation",
    "signoff": "commit", "sign-off": "commit", "dco": "commit",
    "changelog.md": "changelog", "history.md": "changelog", "changes.md": "changelog", "news.md": "changelog",
    "changelog.rst": "changelog", "history.rst": "changelog", "changes.rst": "changelog", "news.rst": "changelog",
    "migrationen": "migration", "migraciones": "migration", "migrações": "migration", "migrazioni": "migration",
    "миграции": "migration", "миграций": "migration", "коммиты": "commit", "релиз": "release", "релизы": "release",
}  # fmt: skip
"""Words in a question for the project's rules, and the action: "what do I need for a PR"."""

HOW = frozenset("wie cómo como come как делают пишут называют оформляют fait hacen fazem fanno".split())
HERE = frozenset("hier тут здесь ici aquí aqui qui projekt projet proyecto projeto progetto проекте".split())
"""Words that such a question has in other languages: "как тут делают миграции"."""

RULES = "convention conventions format guideline guidelines policy process requirement requirements rule rules"
"""Nouns, one of which a question for the project's rules contains: "what are the commit conventions"."""

NEEDS = "ask asks expect expected expects need needed needs ready require required requires should"
"""Words that precede the action in other such questions: "what do I need for a PR"."""

DOING = "add bump create cut document edit made make name note open put run send submit update updated write"
"""Verbs of questions about how or where something is done: "where do I put the changelog entry"."""

LAST_WORDS = {
    "translations": "translation", "translation": "translation", "changelog": "changelog", "change log": "changelog",
    "release notes": "changelog", "release note": "changelog", "release-notes": "changelog",
    "news fragment": "changelog", "newsfragment": "changelog", "changeset": "changelog", "ченджлог": "changelog",
    "чейнджлог": "changelog", "migration": "migration", "pr": "pull-request", "pull request": "pull-request",
    "commit message": "commit", "commit msg": "commit", "pr description": "pull-request",
}  # fmt: skip
"""Things that the last clause of a prompt may ask for without a verb, as in "and the changelog"."""

FIRST_WORDS = {
    "commit msg": "commit", "commit message": "commit", "commit-message": "commit", "commit-nachricht": "commit",
    "changelog entry": "changelog", "changelog line": "changelog", "changelog fragment": "changelog",
    "changelog eintrag": "changelog", "changelog-eintrag": "changelog", "changes entry": "changelog",
    "news fragment": "changelog", "news entry": "changelog", "changelog": "changelog", "pr description": "pull-request",
    "pr text": "pull-request", "pr body": "pull-request", "pr title": "pull-request",
}  # fmt: skip
"""Things with which a clause without a verb may begin: "commit message for this", "changelog entry please"."""

BEHIND_FIRST = "about bitte for from für para please pls plz pour stp svp unter under"
"""Words that may follow such a thing."""

BEFORE_FIRST = "a also an and den ein einen nen new noch now one short the then un una une"
"""Words that may precede it."""

REPORTING = "are did does had has have is isn't lacks looks misses missing needs said says still was were wrong"
"""Words by which such a clause is a statement: "the changelog entry for the cache is wrong"."""

FILLERS = """
a al also an anche as au auch aussi bitte dans das dem den der des die el em en et for i il im in ins into ne nen it l
la las le les lo nel no noch now o one os please pls plz stp svp també também también tambien that the then this to
too und well y в же и тоже
"""
"""Words that may surround such a thing."""

ENTRY = """
ein eine einen eintrag entrada entry en entrée fragment ligne line linea linha línea note nota riga una un uma une voce
zeile запись строка строку строчку
"""
"""Further words for what a changelog gets, which may surround it: "a line in the release notes"."""

NOTES = (
    "notes de version", "notes de publication", "notas de la versión", "notas de versión", "notas de versão",
    "notas da versão", "notas de lançamento", "note di rilascio", "versionshinweise", "releasenotes", "release-notes",
    "release notes", "примечания к выпуску", "примечания к релизу", "заметки к релизу", "релизноты", "релиз-ноты",
)  # fmt: skip
"""Names of the changelog in other languages that consist of several words or begin like those of another action."""
