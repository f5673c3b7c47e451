"""The commonest words of a language: they tell the language, and tell nothing of the subject.

Written for this project; short on purpose. ``detect_language`` counts them, ``analyze_query``
leaves them out of a question (they stay in the index, so that nothing becomes unfindable).
"""

from __future__ import annotations

FUNCTION_WORDS: dict[str, frozenset[str]] = {
    code: frozenset(words.split())
    for code, words in {
        "en": "the of and to in is that it for was on are with as at be this have from or by "
        "not what which how when who does do can i you your we my there where why an if "
        "will has did about",
        "de": "der die das und ist nicht ein eine einen einer zu den dem des mit von auf für "
        "im wie was wer wann wo welche welcher welches sich auch es war sind werden "
        "wurde oder ich sie wir kann bei",
        "fr": "le la les de des du et est un une dans que qui pour pas sur au aux avec ce "
        "cette il elle en par plus quel quelle comment où quand je vous nous son sa ses "
        "sont été ou c'est l'on",
        "es": "el la los las de del que y en un una es por con para no se al lo como su más "
        "qué cómo cuándo cuál quién dónde fue son este esta pero sus le cuántos cuántas "
        "hay está o yo",
        "it": "il lo la gli le di del della dei delle che e è un una in per con non si al "
        "alla come da nel nella sono chi cosa quando dove quale quali questo questa "
        "anche più ha perché mi",
        "pt": "o a os as de do da dos das que e em um uma no na nos nas é por com para não se "
        "ao como mais foi são qual quem quando onde seu sua está este esta ou eu você "
        "pelo pela",
        "nl": "de het een en van in is dat op te zijn met voor niet aan er om ook als bij "
        "naar wat wie wanneer waar welke hoe werd door uit maar wordt deze dit ik je "
        "wij kan heeft worden over",
        "sv": "och att det som en på är av för med den till inte ett om har de jag var kan "
        "vad hur när vem vilken från men eller sig där ska skall efter vid också",
        "da": "og at det som en på er af for med den til ikke et om har de jeg var kan hvad "
        "hvordan hvornår hvem hvilken fra men eller sig der skal efter ved også blev",
        "no": "og at det som en på er av for med den til ikke et om har de jeg var kan hva "
        "hvordan når hvem hvilken fra men eller seg der skal etter ved også ble",
        "fi": "ja on ei se että oli mutta kun mitä mikä missä kuka miten milloin ovat olla "
        "hän minä sinä jos myös tai kuin niin joka jotka tämä ole ovatko onko",
        "pl": "i w na nie się z do jest to że jak o co po za od dla przez czy kto gdzie kiedy "
        "który która które są był była było tego jego ale lub jaki jakie",
        "cs": "a v na se je to že s z do o i jako ve by pro za od který která které jsou byl "
        "byla bylo co kdo kde kdy jak ale nebo tak při již",
        "ro": "și în de la a cu este pe un o să nu din care ce mai pentru sunt fost cum când "
        "unde cine sau dar prin ale al ai au lui",
        "hu": "a az és hogy nem is egy van volt ez meg csak már mi ki hol mikor hogyan melyik "
        "de vagy mint meg kell lehet el ha",
        "tr": "ve bir bu da de için ile ne çok olarak daha gibi kadar ki mi nasıl nerede kim "
        "hangi var olan oldu sonra en değil ama veya",
        "id": "yang dan di ini itu dengan untuk tidak dari dalam adalah pada akan juga ke "
        "oleh atau apa bagaimana kapan siapa mana dapat saya bisa ada sebagai",
        "vi": "và của là có không được trong cho một các những với này đã người ở như khi gì "
        "nào thế ai từ để về hay hoặc",
        "ru": "и в во не что он на я с со как а то все всё она так его но да ты к у же вы за "
        "бы по только её ее мне было вот от меня ещё еще нет о из ему когда для под это "
        "этот какой какая какое какие который которая которые которых где кто чем чего "
        "сколько при был была были до или их об если уже чтобы быть есть мы они том тем "
        "также можно ли чему почему каким каких какую каком",
        "ar": "في من على إلى عن أن ما هو هي التي الذي كان كانت هذا هذه مع كم متى أين كيف ماذا "
        "لا و أو بين بعد قبل كل لم هل أي",
    }.items()
}

NEGATIONS = frozenset(
    "not no nicht kein non ne pas niet inte ikke ei nie nem değil tidak không не нет لا لم".split()  # noqa: SIM905
)
"""Function words that turn a statement round; a question keeps them."""
