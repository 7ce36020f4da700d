"""Invented prompts: those that ask for one of a project's usual actions now, and those that only say its words."""

from __future__ import annotations

ASKED = """
commit|commit msg for this please
commit|SHOP-123 in the message please, and a test
commit|squash that into one
changelog|changelog entry for the cache fix pls, the next one is 2.1
changelog|ça marche, et une ligne dans le changelog stp
changelog|add the changelog thing too
changelog|this needs one of those release-notes files too no?
changelog|test + changelog pls, issue 1215
pull-request|thx. PR description pls, short
pull-request|ok and what do i write into the pr?
changelog|where do i put the changelog entry for this
changelog|how is the changelog updated here?
pull-request|against which branch do i open the PR
commit|does my commit need a signoff here?
translation|i changed a label. and the translations?
translation|how do the translations get updated
translation|Übersetzungen aktualisieren
translation|更新翻译
install|reinstall the apk
lint|run the linter pls
lint|bitte noch clang-format drüberlaufen lassen
release|prépare la release 2.7.11
release|リリースの手順は?
commit|commit and push
commit|Commit this please
commit|ok commit that and open the PR later
commit|commit that fix
commit|commit das bitte
push|push that
commit|ok now commit the changes
commit|write a SHORT git commit message for this fix
commit|Bitte committe die Änderungen
commit|fais un commit
commit|haz un commit con los cambios
commit|faça o commit das alterações
commit|fai il commit
commit|закоммить изменения
commit|сделай коммит
commit|提交代码
commit|提交并推送,然后开一个 PR
commit|変更をコミットして
push|コミット、プッシュ
pull-request|open a PR
pull-request|Looks good, please create a pull request against main
pull-request|write the PR description
pull-request|erstelle einen Pull Request
pull-request|ouvre une PR
pull-request|abre un PR con esto
pull-request|crie um PR
pull-request|apri una PR
pull-request|создай PR
pull-request|创建一个 PR
pull-request|PRを作成して
release|release 2.1
release|release it
release|raise scales to 2.1.0 and publish it
release|cut a new release
release|prepare the 0.19.2 release
release|publish the package to npm
release|bump the version and tag it
release|I want to create a release of the tool on GitHub, how can I go about this
release|create tag and push to release
release|veröffentliche die neue Version
release|publie la nouvelle version
release|发布新版本
test|run the tests
test|what's the test command here?
lint|which lint command do I run before committing?
test|fix the bug in parser.py, then run all the unit tests
test|führe die Tests aus
test|lass die Tests laufen
test|laufen die Tests noch?
test|corre los tests
test|run the full check like the CI does
test|run the whole check before I push
migration|Как тут делают миграции?
migration|wie macht man hier Migrationen?
commit|wie werden in diesem Projekt Commits benannt?
test|lance les tests
test|ejecuta las pruebas
test|rode os testes
test|esegui i test
test|запусти тесты
test|运行测试
test|テストを実行して
test|test it
test|make sure the tests pass
lint|run the linter
lint|lint and format the code
lint|formatiere den Code
lint|格式化代码
lint|continue with fixing the type errors
lint|fix the mypy errors in the exporter
test|keep fixing the failing tests
run|start the dev server
run|how do I run the app locally?
run|starte den Server
run|启动项目
build|build the project
build|rebuild everything
build|ビルドして
deploy|deploy to production
deploy|deploye das auf staging
deploy|déploie l'application
deploy|部署到生产环境
dependency|add zod as a dependency
dependency|füge eine Abhängigkeit hinzu
dependency|ajoute une dépendance à axios
dependency|添加一个依赖
setting|add an environment variable for the timeout
setting|add a new setting to disable caching
setting|füge eine Umgebungsvariable hinzu
migration|create a migration for the new column
migration|I need a new drizzle migration that adds a column
migration|write the orders migration
pull-request|we need a PR for this
migration|erstelle eine Migration
changelog|update the changelog
changelog|add an entry to the changelog
changelog|обнови changelog
contributor|add @mira as a contributor
new-test|write tests for the parser
new-test|escribe tests para el parser
new-test|给解析器加个测试
commit|gut, dann committen
commit|comit this
commit|commit -s please
commit|how should the commit message look like here?
commit|commit一下
commit|コミットお願いします
push|psuh it
push|dann push mal
push|tu peux push
push|haz push
push|запушь
push|推送到main
push|pushして
trigger|what happens when I push this?
trigger|what happens if we merge this into main
trigger|will pushing this deploy anything?
trigger|what runs on a pull request
trigger|was passiert wenn ich das pushe?
trigger|qué pasa cuando hago push a main?
trigger|что будет если я запушу в main?
trigger|mainにマージするとどうなる?
pull-request|what do I need for a PR here
pull-request|what are the requirements for a pull request here?
pull-request|review this branch before I open a PR, anything that would get it rejected?
pull-request|PR please
pull-request|PR aufmachen
pull-request|de quoi j'ai besoin pour une PR ici ?
pull-request|что нужно для PR?
pull-request|PR出して
release|can I just run npm publish
release|tag v1.4.2
release|whats the release process
release|relase 1.2.3
release|发个版本
test|fais tourner les tests
test|pasa los tests
lint|run prettier
run|démarre l'application
build|compile le projet
deploy|ship it to production
deploy|mets en prod
deploy|выкати на прод
setting|make it configurable with an environment variable
changelog|and the changelog
changelog|changelog entry pls
changelog|does this need a changelog entry?
changelog|does this need an entry in History.md? how do we write those
changelog|does it need an entry in CHANGES.rst
commit|ok write the commit message following our guidelines
commit|write the commit message according to the guidelines
changelog|und ins changelog
changelog|trag das ins changelog ein
contributor|ajoute-moi aux contributeurs
test|测试一下
release|how do we release here?
release|how are releases done in this project
release|how do we cut releases here
deploy|how do you deploy here?
test|how do we test here
build|how do we build here?
lint|how do we lint here
release|wie releasen wir hier?
deploy|wie deployen wir hier eigentlich?
release|comment fait-on une release ici ?
deploy|comment déploie-t-on ici ?
release|¿cómo publicamos aquí?
release|¿cómo hacemos un release aquí?
release|como se publica aqui?
deploy|como fazemos deploy aqui?
release|come si pubblica qui?
deploy|come facciamo il deploy qui?
release|как мы тут релизим?
deploy|как тут деплоят?
release|这里怎么发布?
release|我们怎么发版?
release|ここではどうやってリリースしますか?
"""
"""A line is the action and a prompt that asks for it."""

NOT_ASKED = """
the changelog entry for the cache is wrong
no changelog line needed for this
the commit message for the last one says nothing
put the order number 12 in the message please
this needs a changelog page
squash the image
how do we release the lock here?
how do we publish events here
how does the release button work here?
how do tests here get their data?
how are the tests here?
how come the release is here
wie veröffentlichen wir hier einen Artikel?
comment on publie un article ici ?
¿cómo se publica un artículo aquí?
como publicamos um artigo aqui?
come si pubblica un articolo qui?
как тут публикуют статьи?
这里怎么发布文章?
ここで記事をどうやってリリースしますか?
does history.md have a header
ok tests laufen. jetzt noch die Ausgabe
el test pasa, ahora la página
die Migrationen dauern hier sehr lange
run a check on the input
where does the commit dialog get its data
how do the translations look on the login page
where do we create the release object
which branch does the PR widget show
the translation of 'unlock' is wrong
fix the commit message component
commit that broke the build is 1a2b3c4
fix the 0.19.2 release notes page
the pull request template page is broken
make the release notes view scroll
load the test data
don't commit yet
我没有发布过这个版本
还没提交代码
do not run the tests
the build is broken
why did the deploy fail?
commit history should be sorted
add a commit button to the toolbar
create a release notes page
run the test data generator
the tests are slow
test data is wrong
add a settings page
I ran the tests and they failed
add a test button
format the date as ISO
release the lock after the write
publish the event on the bus
push the item onto the stack
start the timer when the page opens
build a component that shows the avatar
build a new app that tracks water
deploy button is misaligned
what does the migration do?
we need a migration guide
I need the tests to be faster
what test command did you run?
which command failed?
the dependency graph is drawn wrong
show the changelog in a modal
the author field is empty
tag the user in the comment
the PR number is missing in the header
open the pull request page in a new tab
rename the test suite view
make the commit list faster
install button does nothing
explain how the release pipeline works
the linter complains about unused imports
start testing fonts on the report page
keep the type errors out of the log
run the query again
start a new line after each item
提交按钮不能点击
测试数据加载失败
加载测试数据
加个测试按钮
der Test-Button ist kaputt
die Tests sind langsam
les tests échouent
el botón de deploy no funciona
el entorno de pruebas no carga
コミット一覧の画面が遅い
depends on the setting in config
create a dependency graph view
add the tag field to the form
compile the list of users
make a version dropdown
execute the query against the test database
check the test coverage report page
update the author bio
Serve cached responses when offline
add option to the select element
when I start the email services on my mac it complains
the app crashes after install on the device
the build script should clone the repo
extend the release page
add push notifications
git push fails
machine learning commits
push the button down by 4px
推送通知收不到
what happens when I push the red button?
what happens when the user pushes back?
merge the two functions
what do I need for the login to work?
which commit introduced this format?
what is the release date format?
is it ready?
tag it with a label
tag cloud is empty
the changelog modal is too wide
package changelog entries are sorted wrongly
npm publish failed with 403
git push was rejected: non-fast-forward
star the repository
noch nicht committen
ne commit pas
"""
