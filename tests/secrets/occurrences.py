"""Where secrets stand: six places for every kind, the ways of naming one, and the languages people name them in."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from secret_kinds import Kind

PLACES = ("prose", "assignment", "YAML", "env", "URL", "header")
_BY_SHAPE = {
    "prose": "can you find out why {value} is refused on staging?",
    "assignment": 'client = connect("{value}", retries=3)',
    "YAML": "upload:\n  value: {value}\n  retries: 3",
    "env": "REGION=eu\nVALUE={value}\nDEBUG=1",
    "URL": "https://api.example.org/v1/items?x={value}&page=2 answers 500",
    "header": "curl -H 'X-Custom: {value}' https://api.example.org",
}
_BY_NAME = {
    "prose": "by the way, the {words} is {value} on staging",
    "assignment": '{camel} = "{value}"',
    "YAML": "upload:\n  {name}: {value}\n  retries: 3",
    "env": "REGION=eu\n{NAME}={value}\nDEBUG=1",
    "URL": "https://api.example.org/v1/items?{name}={value}&page=2 answers 500",
    "header": "curl -H 'X-{Title}: {value}' https://api.example.org",
}


def placed(kind: Kind, place: str, value: str) -> tuple[str, str]:
    """Return a text with the value in that place, and the value as it is written there."""
    value = quote(value, safe="") if place == "URL" and "://" not in value else value
    if not kind.name:
        return _BY_SHAPE[place].format(value=value), value
    words = kind.name.split("_")
    text = _BY_NAME[place].format(
        value=value,
        name=kind.name,
        NAME=kind.name.upper(),
        words=" ".join(words),
        camel=words[0] + "".join(map(str.capitalize, words[1:])),
        Title="-".join(map(str.capitalize, words)),
    )
    return text, value


FORMS = (
    *('FLY_API_TOKEN="FlyV1 fm2_{}"', 'DEPLOY_TOKEN="Token {}"', "DB_PASS: {}", "db_pass: {}", "SMTP_PASS = {}"),
    *("ENV API_KEY {}", "FROM x\nENV DB_PASSWORD {}\nRUN y", "ENV APP_SECRET={} DEBUG=1", "ARG AUTH_TOKEN={}"),
    *("setx API_KEY {}", "set -gx API_KEY {}", "set -x GITHUB_TOKEN {}", "$env:API_KEY = '{}'", "SetEnv APP_SECRET {}"),
    *("secret -> {}", "secret → {}", "password -> {}", "token => {}", "api key - {}", "api key – {}", "secret: -> {}"),
    *("password:\n{}", "password:\n\n{}", "password:\n  {}", "password: \n`{}`", "password:\n- {}", "Token:\n{}\n"),
    *("API key:\n{}\nplease test it", "password:\n```\n{}\n```", "the secret is:\n{}", "here is the token:\n\n{}"),
    *("use {} as the password", "use `{}` as the api key", "with {} as my token", "take {} for the password"),
    *("log in as bob with {} as password", "{} is the password", "{} is my api key", "set {} as secret"),
    *("set the password to {}", "change the token to {}", "password should be {}", "the password was {}"),
    *("my password's {}", "login: bob / {} is the password", "user bob, password {}", "bob's password is {}"),
    *("Cookie: sessionid={}", "Cookie: a=b; PHPSESSID={}; c=d", "Set-Cookie: JSESSIONID={}; Path=/", "Cookie: sid={}"),
    *("-H 'Cookie: connect.sid={}'", "curl -b 'session={}' x.org", "document.cookie = 'auth_session={}'"),
    *("x.blob.core.windows.net/c/f?sv=2022-11-02&sr=b&sig={}&se=2026", "https://x.org/?X-Amz-Signature={}&a=1"),
    *("https://x.org/f?access_token={}", "https://bob:{}@x.org/f", "https://x.org/f?code={}&clientId=default"),
    *("| password | {} |", "| API key | `{}` |", "password\t{}", "password = {}", "password := '{}'", "password {}"),
    *("- **Password**: {}", "**API key** {}", "* token: `{}`", "password (staging): {}", "password for bob: {}"),
    *("Password for the staging database: {}", "the token for staging is {}", "api key (prod) = {}", "pwd={}"),
    *('{{"apiKey": "{}"}}', "apiKey: '{}',", '"secret_token" => "{}"', '.setPassword("{}")', 'password("{}")'),
    *("--token={}", "--api-key {}", "--password '{}'", "-e DB_PASSWORD={}", "--from-literal=password={}"),
    *("machine x.org login bob password {}", "requirepass {}", "x.org:5432:db:bob:{}", "IDENTIFIED BY '{}'"),
    *("PASSWORD '{}'", "create user bob with password '{}'", "echo {} | docker login --password-stdin"),
    *('<add key="ApiKey" value="{}"/>', "<apiKey>{}</apiKey>", "<secret name='x'>{}</secret>", "Pass: {}"),
    *("name: API_KEY\n  value: {}", '- name: DB_PASSWORD\n  value: "{}"', "pin: secret {}", "secret key {}"),
    *("Authorization: Token {}", "Authorization: {}", "X-Auth-Token: {}", "Proxy-Authorization: Basic {}"),
    *("credentials: bob/{}", "creds: bob:{}", "login bob:{}", "user: bob, pass: {}", "username=bob password={}"),
    *("Bearer {}", "bearer token {}", "PRIVATE-TOKEN: {}", "Ocp-Apim-Subscription-Key: {}", "x-functions-key: {}"),
)  # fmt: skip
"""Ways of calling a random value a secret."""

LANGUAGES = {
    "English": ("the password is {}", "password: {}", "the API key is {}", "token: {}"),
    "Chinese": ("密码是 {}", "密码：{}", "数据库密码为{}，请检查", "密钥：{}", "令牌是 {}", "访问令牌: {}", "口令: {}"),
    "Chinese, traditional": ("密碼是 {}", "密碼：{}", "金鑰：{}", "權杖: {}", "存取權杖是{}"),
    "Hindi": ("पासवर्ड {} है", "पासवर्ड: {}", "कुंजी: {}", "टोकन {} है", "मेरा कूटशब्द {} है"),
    "Spanish": ("la contraseña es {}", "contraseña: {}", "la clave es {}", "clave de API: {}", "el token es {}", "clave: {}"),
    "French": ("le mot de passe est {}", "mot de passe : {}", "la clé est {}", "clé API : {}", "le jeton est {}", "jeton : {}"),
    "Arabic": ("كلمة المرور هي {}", "كلمة المرور: {}", "كلمة السر: {}", "المفتاح: {}", "مفتاح API هو {}", "الرمز: {}"),
    "Bengali": ("পাসওয়ার্ড হল {}", "পাসওয়ার্ড: {}", "টোকেন: {}", "কী: {}"),
    "Portuguese": ("a senha é {}", "senha: {}", "palavra-passe: {}", "a chave é {}", "chave da API: {}", "o token é {}"),
    "Russian": ("пароль {}", "Пароль: {}", "пароль от базы: {}", "ключ: {}", "ключ API — {}", "токен: {}", "секрет: {}"),
    "Urdu": ("پاس ورڈ {} ہے", "پاس ورڈ: {}", "کلید: {}", "ٹوکن: {}"),
    "Indonesian": ("kata sandi: {}", "kata sandinya adalah {}", "kunci API: {}", "token adalah {}", "sandi: {}"),
    "German": ("das Passwort ist {}", "Passwort: {}", "Kennwort: {}", "der Schlüssel ist {}", "Schlüssel: {}", "der Token ist {}"),
    "Japanese": ("パスワードは{}です", "パスワード：{}", "キー：{}", "APIキーは {} です", "トークン: {}", "秘密鍵は{}", "暗証番号: {}"),
    "Marathi": ("पासवर्ड {} आहे", "संकेतशब्द: {}", "टोकन: {}"),
    "Telugu": ("పాస్‌వర్డ్ {}", "పాస్వర్డ్: {}", "టోకెన్: {}", "కీ: {}"),
    "Tamil": ("கடவுச்சொல்: {}", "கடவுச்சொல் {}", "டோக்கன்: {}", "விசை: {}"),
    "Turkish": ("şifre: {}", "şifrem {}", "parola: {}", "anahtar: {}", "belirteç: {}", "API anahtarı: {}"),
    "Vietnamese": ("mật khẩu là {}", "mật khẩu: {}", "khóa API: {}", "mã thông báo: {}"),
    "Korean": ("비밀번호는 {}입니다", "비밀번호: {}", "패스워드: {}", "암호: {}", "API 키는 {}", "키: {}", "토큰: {}"),
    "Italian": ("la password è {}", "parola d'ordine: {}", "la chiave è {}", "chiave API: {}", "gettone: {}"),
    "Persian": ("رمز عبور: {}", "گذرواژه {} است", "کلید: {}", "توکن: {}"),
    "Polish": ("hasło to {}", "hasło: {}", "klucz: {}", "klucz API to {}", "token to {}"),
    "Ukrainian": ("пароль: {}", "ключ: {}", "токен: {}"),
    "Dutch": ("het wachtwoord is {}", "wachtwoord: {}", "sleutel: {}"),
    "Thai": ("รหัสผ่าน: {}", "รหัสผ่านคือ {}", "คีย์: {}", "โทเค็น: {}"),
    "Swahili": ("nenosiri: {}", "nenosiri ni {}", "ufunguo: {}"),
    "Gujarati": ("પાસવર્ડ: {}", "ટોકન: {}"),
    "Punjabi": ("ਪਾਸਵਰਡ: {}", "ਟੋਕਨ: {}"),
    "Tagalog": ("ang password ay {}", "password: {}", "ang susi ay {}"),
}  # fmt: skip
"""The words for password, key and token, in sentences with {} for the value."""
