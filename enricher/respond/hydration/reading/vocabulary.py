"""List the words by which requests are found in a prompt: verbs, polite beginnings, signs of a wish."""

from __future__ import annotations

POLITE = (
    "instead", "please", "pls", "can you please", "could you please", "can you", "could you", "would you", "will you",
    "can we", "could we", "i want you to", "i would like you to", "i'd like you to", "i need you to", "i want to",
    "i'd like to", "i would like to", "i need to", "we need to", "we're going to", "we are going to", "we should",
    "you should", "you need to", "you'll need to", "you will need to", "you have to", "we'll need to", "we have to",
    "we must", "your task is to", "the task is to", "the goal is to", "the next step is to",
    "the remaining work is to", "your job is to", "what we need to do is", "what you need to do is",
    "i think we should", "i think you should", "that makes me think we should", "in fact", "let's",
    "lets", "let us", "help me", "go ahead and", "hey", "hi", "hello", "ok", "okay", "so", "now", "then", "also",
    "and", "next", "great", "thanks", "thank you", "hmmm", "hmm", "hm", "um", "perfect", "good", "nice", "well",
    "first", "finally", "just", "maybe", "kindly", "only", "probably", "but", "actually", "yeah", "yep", "yup",
    "when you're done", "when done", "once done", "after that", "yes", "try to", "make sure to", "be sure to",
    "alright", "all right", "cool", "awesome", "excellent", "id like to", "bitte", "por favor", "per favore",
    "s'il te plaît", "s'il vous plaît", "puedes", "podrías", "peux-tu", "pouvez-vous", "puoi", "você pode", "pode",
)  # fmt: skip
VERBS = frozenset(
    """
    accept adapt add address adjust adopt align allow amend analyse analyze append apply arrange assign attach
    audit backport benchmark bind bring build bump bundle cache calculate center centre change check choose
    clarify clean cleanup clear clone close collect combine commit compare compile complete compute configure
    connect consider consolidate continue convert copy correct count cover create cross-check cut debounce debug
    decide decouple decrement deduplicate define delegate delete deploy deprecate describe design detach detect
    develop diagnose differentiate disable disconnect discuss document double-check download draft draw drop
    dump duplicate edit eliminate embed emit enable enforce ensure evaluate examine exclude execute exempt
    expand explain explore export expose extend extract fetch figure fill filter find finish fix flag flatten
    follow format generate get give group handle harden hide highlight identify implement import improve include
    increase increment initialise initialize inject inline insert inspect install integrate interpolate
    introduce invert investigate isolate iterate join keep kill launch lint list load log look lower make
    maximise maximize measure merge migrate mimic minimise minimize mirror mock modify monitor move nest
    normalise normalize notify omit open optimise optimize outline overhaul override pack parametrize parse
    patch pick pin place plan polish populate port prepare preserve prevent print proceed propose prove provide
    prune publish pull push put raise read rearrange rebase rebuild reconcile reconsider record recreate
    redesign redo reduce refactor refetch refine reformat regenerate reindex release reload rely remove rename
    render reorder reorganise reorganize repair rephrase replace report reproduce require rerun research reset resize
    resolve restart restore restrict restructure restyle rethink retrigger retry return reuse revert review
    revise rewire reword rework rewrite robustify roll rotate run sanitise sanitize save scaffold scan scrape
    search select send separate serve set setup shift ship shorten show shrink simplify simulate skip solve sort
    spawn specify speed split squash standardise standardize stash stay stop store streamline strengthen strip
    structure submit subscribe substitute summarise summarize support swap switch sync tackle tag teach test
    think throttle tidy tighten toggle track translate treat trigger trim truncate tune turn tweak undo unify
    unset unwrap update upgrade upload use validate vendor verify visualise visualize warn widen wire wrap write
    """.split()
)
ORDERS_ELSEWHERE = frozenset(
    """
    aktualisiere benenne benutze beschreibe bessere ergänze entferne erkläre ersetze erstelle erweitere finde füge
    implementiere korrigiere lösche mache nimm passe prüfe refaktoriere repariere schreibe setze sorge stelle teste
    untersuche verbessere verschiebe verwende zeige ändere überprüfe
    ajoute ajoutez ajouter améliore améliorez améliorer corrige corrigez corriger crée créez créer déplace
    déplacez explique expliquez génère implémente implémentez mets modifie modifiez modifier renomme renommez
    remplace remplacez remplacer répare supprime supprimez supprimer utilise utilisez utiliser vérifie vérifiez
    actualiza agrega agregar añade añadir arregla arreglar borra busca cambia cambiar corrige corregir crea crear
    elimina eliminar escribe explica genera haz implementa implementar mejora mejorar modifica mueve muestra quita
    reemplaza refactoriza renombra revisa usa utiliza utilizar verifica
    adicione adicionar altere atualize conserte corrija crie criar exclua explique gere implemente melhore mova mude
    refatore remova renomeie substitua troque utilize verifique
    aggiorna aggiungi aggiungere cancella correggi elimina implementa migliora rimuovi rinomina scrivi
    sostituisci sposta spiega togli usare verifica
    """.split()
)
"""First words of orders in German, French, Spanish, Portuguese and Italian."""
CONDITIONS = frozenset(
    ("should", "shall", "must", "needs", "need", "shouldn't", "mustn't", "want", "wanted", "wants", "wish")
)
FORECASTS = tuple(
    f"{what} {will} {effect}"
    for what in ("this", "that", "it")
    for will in ("should", "will", "would")
    for effect in ("do the trick", "do it", "fix ", "help", "suffice", "be enough", "be all", "be it", "make it work")
)
"""Beginnings of sentences that say what the author expects of a change, and ask for nothing."""
FORBIDDING = frozenset(("shouldn't", "mustn't", "shouldnt", "mustnt"))
ANNOUNCING = (
    "turn our attention", "turn your attention", "turn to ", "move on", "focus on", "talk about", "start with ",
    "begin with ", "start over", "step into ", "go over ", "work on ", "take a look", "take another look",
)  # fmt: skip
"""Beginnings of orders that only announce the topic of the next sentences."""
TALKING = ("talk about ", "discuss ")
"""Beginnings of orders that bound the work if "before" follows: "talk about the prices before the third step"."""
ABOUT_CONDUCT = frozenset(("stick", "bear", "refrain"))
"""Verbs of orders that say how to work, not what to do: "let's stick to the input for now"."""
BEFORE_AND = frozenset(("try", "go", "come"))  # one request with the verb after the "and": "try and find it"
CONDITIONAL = frozenset("if when whenever once after before unless while as until since because".split())
"""First words of a sentence with a conditional request: "if the file is missing, create it"."""
DETERMINERS = frozenset("the a an another this that these those it them all each every my our its their".split())
WISHES = frozenset(("would", "i'd", "we'd", "id"))  # before "like" or "expect"
UNWANTED = ("no point in ", "no need for ", "do not want ", "don't want ", "dont want ")  # what follows is not wanted
NEAR_THE_BEGINNING = 10  # a word of ``CONDITIONS`` among this many first words makes a sentence a wish
NEGATIONS = frozenset(("not", "don't", "dont", "doesn't", "didn't", "never", "no"))
BEHIND_A_LEADING_VERB = frozenset("the a an all each every both it them this that these those users".split())
VAGUE = frozenset(
    """
a new feature|a feature|another feature|some changes|a few changes|these changes|the changes|the following|
the following changes|the following tasks|a task|a few things|some things|a couple of things|something
""".replace("\n", "").split("|")
)
"""Objects of orders that only announce what the next sentences say."""
STATING = frozenset("is are isn't aren't was looks look see sees gets get has have shows seems still only".split())
"""Words by which a sentence describes how something is."""
MINOR = frozenset(("look", "check", "see", "keep", "note", "read", "think", "consider"))
PRONOUNS = frozenset(("it", "that", "this", "them", "these", "those", "both", "all", "everything"))
BEING = frozenset("is are was were isn't aren't wasn't weren't seems looks won't".split())
RELATIVES = frozenset(("that", "which", "who", "where", "whose"))
REFERRING = (" instead of that", " in place of that", " in its place")  # refer to the previous sentence
BACKWARD = frozenset(("it", "they", "these", "those", "both"))
"""First words of a wish that refer to something in the sentence before it."""
SWEEPING = ("find and ", "search and ", "locate and ")  # the previous sentence may name these: "find and fix these"
SAMPLING = (
    "e.g.", "e.g ", "for example", "for instance", "such as", "like in ", "has an example", "has examples",
    "is an example", "is one example", "as an example",
)  # fmt: skip
"""Words next to a file name that make the file an example, not the only place: "shop/cart.py has an example"."""
BEHIND_A_PRONOUN = frozenset("as for from in into on to with".split())  # "document this as a decision"
FEWEST_WORDS_OF_A_GOAL = 5  # minimum words of an order about a pronoun; "make it so" is too vague
POINTING = PRONOUNS.union(("how", "what", "at", "into", "about"))  # only accompanies another request: "look at the log"
GUESSES = ("could be", "might be", "may be", "perhaps", "probably", "could it be", "is it possible")
QUESTIONS = (
    "should we ", "should i ", "is every ", "is the ", "is this ", "are all ", "are the ", "are these ",
    "do we ", "do i ", "does ", "did ", "is there ", "is it ", "are there ", "am i ", "why ", "what is ", "what are ",
    "what options ", "what does ", "how do ", "how does ", "how can ", "where is ", "where do ",
)  # fmt: skip
"""Beginnings of questions, even without a question mark."""
WISHING = (
    "i want to ", "i wanted to ", "i would like to ", "i'd like to ", "i need to ", "we need to ", "we want to ",
    "we're going to ", "we are going to ", "we should ", "you should ", "we have to ", "we must ", "you'll need to ",
    "you will need to ", "id like to ",
)  # fmt: skip
"""Beginnings of wishes; some are also in ``POLITE``, and are then removed from the request's text."""
LEARNING = frozenset(("understand", "know", "learn"))  # "I want to understand it" sets no task for the agent
REQUESTING = (
    ", can we ", ", could we ", ", so can we ", ", so can you ", ", so please ", ", can you ", ", could you ",
    ", please ", ", so make sure ", ", and make sure ",
    ", let's ", ", lets ", ", but let's ", ", so let's ", ", so lets ",
)  # fmt: skip
"""Phrases with which another request begins within a sentence."""
TRAILING_OFF = "\u2026 "  # an ellipsis ends a sentence if it directly follows a word
ENDS = (TRAILING_OFF, " - ", " -- ", " \u2013 ", " \u2014 ", ". ", "! ", "? ", *REQUESTING)
DASHES = (" - ", " -- ", " \u2013 ", " \u2014 ")
ORDERING = ("let's ", "lets ", "let us ", "please ", "go ahead and ")  # any verb may follow: "let's memoize it"
ASKING_POLITELY = (
    "puedes ",
    "podrías ",
    "peux-tu ",
    "pouvez-vous ",
    "puoi ",
    "você pode ",
    "can you ",
    "could you ",
    "would you ",
    "will you ",
    "can we ",
    "could we ",
)
"""Phrases with which a question asks for an action, unless a word of ``KNOWING`` follows: "can you memoize it?"."""
KNOWING = frozenset("see tell confirm think remember know believe say guess".split())
CIRCUMSTANCES = frozenset("in on at for from with within inside under using based given instead".split())
"""First words of a sentence that may name a place or source before its order: "in the menu can we add a line"."""
JOINING = ("and", "then", "&")
FILLERS = frozenset("also please then maybe instead just and but &".split())  # "add a flag, also update the docs"
CONFIRMING = frozenset("yeah yes right ok okay no correct agreed".split())  # "we only need the name, yeah?"
POSSIBLE = frozenset(("might", "may"))
BEHIND_A_BARE_VERB = frozenset(("and", "or", "it", "this", "that", "them", "sure"))
UNFINISHED = frozenset("for to with of in on at by from as like the a an though out up and or".split())
"""Last words of an incomplete text, which was cut off or continues in another line: "check for"."""
AROUND = " \t.,;:!?*-_\"'()[]…\u2013\u2014"
