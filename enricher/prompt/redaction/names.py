"""Words for a password, a key or a token in the most widely spoken languages.

Words with non-ASCII letters that are also written in ASCII are listed in each spelling.
"""

from __future__ import annotations

PASSWORD, KEY, TOKEN, SECRET, LOGIN = "password", "key", "token", "secret", "login"


def _rows(words: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Return a row (the word in lower case, the kind of secret) for each of the words, by kind."""
    return tuple((" ".join(word.split()), kind) for kind, text in words.items() for word in text.split(","))


# Searched in every text.
ASCII = _rows(
    {
        PASSWORD: """
            password, passwd, passphrase, passcode, passwort, pw, pwd, kennwort, wachtwoord, mot de passe, contrasena,
            senha, palavra-passe, parola, kata sandi, sandi, sifre, sifrem, mat khau, haslo, heslo, nenosiri, salasana,
            identified by
        """,
        LOGIN: "creds, credentials, login",
        SECRET: "secret",
        TOKEN: "token, jeton, gettone",
        KEY: "key, clave, chave, chiave, klucz, kunci, anahtar, anahtari, sleutel, schluessel, ufunguo, susi",
    }
)

# Searched in texts with non-ASCII characters.
OTHERS = _rows(
    {
        PASSWORD: """
            contrase\u00f1a, contrasen\u0303a, \u015fifre, parol\u0103, m\u1eadt kh\u1ea9u, has\u0142o, l\u00f6senord,
            jelsz\u00f3, κωδικός, пароль, 密码, 密碼, 口令, パスワード, 暗証番号, 비밀번호, 패스워드, 암호,
            كلمة المرور, كلمة السر, كلمه السر, الرقم السري,
            पासवर्ड, कूटशब्द, संकेतशब्द, পাসওয়ার্ড,
            پاس ورڈ, رمز عبور, گذرواژه, پسورد,
            పాస్\u200cవర్డ్, పాస్వర్డ్, கடவுச்சொல், รหัสผ่าน, સંકેતશબ્દ, પાસવર્ડ, ਪਾਸਵਰਡ, ಪಾಸ್ವರ್ಡ್, ಪಾಸ್\u200cವರ್ಡ್,
            סיסמה, סיסמא
        """,
        KEY: """
            cl\u00e9, schl\u00fcssel, kh\u00f3a, kho\u00e1, κλειδί, ключ, 密钥, 秘钥, 密鑰, 金鑰, キー, 鍵, 키,
            مفتاح,
            कुंजी, কী, চাবি,
            کلید, کنجی,
            కీ, விசை, คีย์, กุญแจ, કી, ਕੁੰਜੀ,
            מפתח
        """,
        TOKEN: """
            \u017ceton, belirte\u00e7, m\u00e3 th\u00f4ng b\u00e1o, токен, 令牌, 权杖, 權杖, トークン, 토큰,
            الرمز, رمز الوصول, توكن,
            टोकन, টোকেন,
            ٹوکن, توکن,
            టోకెన్, டோக்கன், โทเค็น, ટોકન, ਟੋਕਨ
        """,
        SECRET: "секрет, 機密, 机密, シークレット, 시크릿",
    }
)

# Words between the name and the secret, in lower case: the secret follows directly.
VERBS = frozenset(
    """
    is was are be to as ist lautet ist: est es son \u00e8 \u00e9 e' e adalah ialah l\u00e0 la to: to jest ni ay is: it's
    равен это هو هي ہے है আছে হল হলো là
    """.split()
)
