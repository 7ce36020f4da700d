"""Invented prompts: those that ask for tests without naming what they test, and those that only speak of tests."""

from __future__ import annotations

ASKED = """
of it|and the tests for it?
of it|is there a test for that? if not write one
of it|ok and is there a test for that? if not write one
of it|add a test
of it|now cover this with tests
of it|which test covers that
of it|does anything test this
of it|tests?
of it|uhh... the tests?
of it|suspect some tests would be good, no?
of it|ok now tests pls
of it|write a regression test for this
of it|this needs a test
of it|you forgot the tests
of it|do we have tests for this function?
of it|where are the tests for that
of it|is this tested anywhere
of it|is that covered by a test?
of it|add tets for it
of it|and a test case please
of it|looks good. is there a test for that?
of it|fix it and add a test
of it|fix it, strip the trailing blanks. and where are the specs
of it|did you add tests?
of it|no tests for this yet?
of it|shouldn't there be a test for that rule?
of it|any specs for this?
of it|ok and a test that would have caught it
of it|tests too pls, and the CHANGES entry
of it|now the tests, and update the docs
of it|ok option 2, and add a test for it
of it|ok now a test
of it|now a test + changelog
of it|now a test for it, 40 pans and each of them broken
of it|tests for it. also what if the pan is missing
of it|ok now the tests. small pans and the large ones
of it|and a ruby test for it
of it|test for it in the existing weight tests, incl. the negative one
of it|spec for that, and a changelog line
run it|run just that test
run it|tests still red? run the ones for this file
run it|run only the affected tests
run it|run the tests for what you just changed
run it|rerun only those tests
run it|can you run the test for it
run one|how do I run a single test
run one|run one test
run one|how can i run only one test file here?
run one|what's the command to run a specific test?
of it|und die Tests dafür?
of it|jetzt noch ein Test dazu, und eine Zeile in pans.xml
of it|jetzt die tests
of it|gibt es dafür schon einen test?
of it|schreib noch einen Test dafür
of it|füg bitte tests hinzu
of it|welcher test deckt das ab?
of it|ist das getestet?
run it|lass nur diesen test laufen
run one|wie führe ich einen einzelnen test aus?
of it|et les tests ?
of it|ok et maintenant le test, avec un plateau vide en plus
of it|il y a un test pour ça ?
of it|ajoute un test pour cette fonction
of it|quel test couvre ça ?
run it|lance juste ce test
run one|comment lancer un seul test ?
of it|¿y las pruebas?
of it|hay algún test para eso?
of it|añade un test para esto
of it|qué test cubre esto?
run it|ejecuta solo ese test
run one|cómo ejecuto un solo test?
of it|e os testes?
of it|tem teste pra isso?
of it|adiciona um teste para isso
run it|roda só esse teste
run one|como rodo um único teste?
of it|e i test?
of it|c'è un test per questo?
of it|aggiungi un test per questo
run it|esegui solo quel test
run one|come eseguo un singolo test?
of it|ну и тесты?
of it|есть тест на это?
of it|добавь тесты для этого
of it|какой тест это покрывает?
run it|запусти только этот тест
run one|как запустить один тест?
of it|那测试呢?
of it|这个有测试吗?
of it|给它加个测试
of it|哪个测试覆盖了这个?
run it|只跑这个测试
run one|怎么只跑一个测试?
of it|テストは?
of it|テストも書いて
of it|それのテストはある?
of it|そのフィルタのテストはどこ?
run it|このテストだけ実行して
run one|テストを1つだけ実行するには?
of it|what tests are there
of it|where is the test
of it|can you add unit tests for the changes?
of it|add unit tests
of it|unit tests?
of it|write tests for the new code
of it|write some tests for what you just added
of it|lets get some test coverage on this
of it|add tests to cover this
of it|test coverage for this?
of it|i think we need a test for this
of it|pls also add a test case for that
of it|where's the test?
of it|what about tests?
of it|how about tests
of it|how about a test for that
of it|any existing tests for this?
of it|is there already a test covering this?
of it|which file are the tests for this in
of it|which file has the tests for it
of it|now the tests
of it|now write the tests
of it|tests too please
of it|great, now tests
of it|and tests!
of it|good. write the test
of it|cover it with a test
of it|commit it and add tests for it
of it|ok now the tests. also one with an empty key
of it|now the tests, and another for the case that the limit is 0
of it|thats fine but needs tests
of it|that's missing a test
of it|missing tests
of it|no test?
of it|wo ist der test dazu
of it|und wo sind die tests?
of it|tests fehlen noch
of it|da fehlt noch ein test
of it|bitte noch mit tests abdecken
of it|und tests?
of it|mach dafür einen test
of it|wird das irgendwo getestet?
of it|gibts dafür tests?
of it|kannst du dafür noch tests schreiben
of it|rajoute un test
of it|tu peux ajouter des tests ?
of it|et un test pour ça stp
of it|où sont les tests ?
of it|falta el test
of it|y un test para eso
of it|puedes añadir tests?
of it|dónde están los tests de esto
of it|faltou o teste
of it|e um teste pra isso?
of it|cadê os testes?
of it|pode adicionar testes?
of it|dove sono i test?
of it|puoi aggiungere dei test?
of it|и где тесты?
of it|тесты напиши
of it|добавь ещё тест
of it|写一下测试
of it|加上单元测试
of it|有没有对应的测试
of it|测试在哪里
of it|补一个测试
of it|これにテストを追加して
of it|テスト書いて
of it|テストはどこ?
of it|対応するテストある?
of it|テスト追加して
run it|run its tests
run it|just run the related tests
run it|run the tests for this file only
run it|only run that one test
run it|run the tests that cover this
run it|run the tests for that module
run it|führ nur die tests dazu aus
run it|lance les tests de ce fichier
run it|corre los tests de esto
run it|запусти тесты для этого
run it|运行一下相关的测试
run one|how do you run a single test here
run one|how do i run just one test
run one|how to run a specific test file
run one|can i run a single test?
run one|command to run a single test
run one|¿cómo ejecuto una sola prueba?
run one|como executo um único teste?
run one|テストを一つだけ実行するにはどうすればいいですか?
of it|write tests for what you just built
run one|whats the command to run a single test
of it|wheres the test for it
of it|theres no test for that
run one|wie kann ich nur einen test laufen lassen
run one|wie starte ich einen einzelnen test?
run one|comment exécuter un test en particulier
run one|¿cómo se ejecuta un único test?
run one|как прогнать один тест
run one|如何运行单个测试
run one|テストを一つだけ実行したい
"""

NOT_ASKED = """
add an integration test for it
fix it, add a page for refunds. and where are the specs
the test data is wrong
add a test page to the menu
I don't want that test.
remove that test
no tests please
don't add tests
skip the tests for now
why do the tests fail on windows?
test the endpoint, i restarted it
can you test it in the browser
the test ui just said it was translated
test it with curl
let me test it first
I'll test this tomorrow
all tests pass now, commit
how long do the tests take?
what does this test do?
what is that test about
is the test environment up?
rename the test
the tests are good
tests are green, what's next
that test is flaky, ignore it
good test!
is it tested on python 3.12?
test coverage is at 80% now
is it in the spec?
what did you test?
i wrote a test for it
this test fails
make the a/b test start on monday
run all tests
run the tests
remove skipped tests
make the header blue and run the linter
die testdaten sind falsch
schreibe Tests für den Parser
schreibe Tests für das Paket
lösch den test
keine tests bitte
ich teste das morgen
supprime ce test
les tests échouent encore
las pruebas fallan
borra esa prueba
os testes quebraram
i test falliscono
тесты падают
удали этот тест
测试失败了
测试环境挂了
不要写测试
テストが落ちた
このテスト落ちてる
テスト環境が動かない
ok but the tests need to run on CI too
did the tests pass?
are the tests passing now?
do the tests still pass
you broke the tests
there are too many tests
can we have less tests
which tests did you run?
which tests failed?
what are the tests for
how are the tests run
I like the tests
the tests could be faster
the tests should not use the network
can you make the tests faster?
we need a test server
create a test account for me
write a test email to bob
is there a test mode?
is there a test environment for that
use the test database
ok, what about the tests in CI
add a test button
and test it please
test this please
tested it, works
i tested it and it works
have tested that, still broken
just tested, same error
it works in the test
put the tests in a separate file
move the tests to another file
put it in the tests folder
is this only for tests?
this is just a test
just a test
this is a test
hello, test
test
test 1 2 3
is this the test you mean
the test you wrote is wrong
the test you added needs to cover the empty list
change the test to use the new name
should this be in the test?
why did you change the test
did you change the tests?
you changed the tests too
don't change the tests
can the tests be run in parallel?
what does the test cover
does the test cover this?
does that test cover this
are these tests enough
those tests are enough
das war nur ein test
ist nur ein test
nur ein test
ce n'est qu'un test
es solo una prueba
es una prueba
isso é só um teste
è solo un test
это тест
это просто тест
这是测试
这只是测试
只是测试一下
これはテストです
テストです
テスト
"""
