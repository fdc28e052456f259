/** Every repetition is bounded or cannot overlap: a value may be a megabyte of arbitrary text. */

const TOKENS = [
  /-----BEGIN (?:[A-Z0-9 ]{0,40}PRIVATE KEY|OpenVPN Static key)/,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\b(?:gh[pousr]_|github_pat_|glpat-|gl(?:rt|dt|ptt|cbt|soat|ft|imt|agent)-|xox[abeoprs]-|xapp-\d-|xoxe\.xox[bp]-|[sr]k_(?:live|test)_|whsec_|hv[sbr]\.|npm_|AIza|ya29\.|AGE-SECRET-KEY-1|pypi-|gls[ac]_|glc_|shp(?:at|ca|pa|ss)_|do[opr]_v1_|pul-|pscale_(?:tkn|pw|oauth)_|cf(?:k|ut|at)_|NRAK-|NRII-|ATATT3|ATCTT3|EAA[A-Z]|sk-|pk-lf-|sntr[ysu]s?_|dp\.(?:pt|st|ct|sa)\.(?:[\w-]{1,40}\.)?|PMAK-|rubygems_|lin_api_|figd_|hf_|gsk_|dckr_pat_|ops_eyJ|tskey-|ntn_|secret_|sbp_|rnd_|fly[A-Za-z0-9]{0,4}_|vault:v\d+:|CCIPAT_|AccountKey=|SharedAccessKey=)[A-Za-z0-9_+/=-]{14}/,
  /\b[A-Za-z0-9]{14}\.atlasv1\.[\w-]{18}/,
  /\b(?:eu01xx|[0-9a-f]{6})[0-9a-f]{26}FFFFNRAL\b/,
  // A private JSON Web Key, and the gossip key of Consul and Nomad.
  /"d"\s{0,9}:\s{0,9}"[\w-]{20}/,
  /\bencrypt["']?\s{0,9}[:=]\s{0,9}["'][A-Za-z0-9+/]{20,100}={1,2}["']/,
  /\bK10[0-9a-f]{64}::[^\s"']{6}/,
  /\beyJ[A-Za-z0-9_-]{10,300}={0,2}\.[A-Za-z0-9_-]{10}/,
  // Twilio, SendGrid, Telegram, Azure AD, kubeadm, Mailchimp.
  /\b(?:SK|AC)[0-9a-f]{32}\b/,
  /\bSG\.[\w-]{16,32}\.[\w-]{30,60}/,
  /\b\d{8,10}:AA[A-Za-z0-9_-]{32,34}\b/,
  /\b[A-Za-z0-9_~.]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}/,
  /(?:^|[\s"'=:])[a-z0-9]{6}\.[a-z0-9]{16}(?![\w.-])/,
  /\b[0-9a-f]{32}-us\d{1,2}\b/,
  // crypt, bcrypt, apr1, argon2, SCRAM, SHA1 of htpasswd.
  /\$(?:1|2[abxy]|5|6|7|y|gy|apr1|argon2(?:id?|d)|pbkdf2[\w-]{0,10}|scrypt)\$[\w./$=,+-]{16}/,
  /\bSCRAM-SHA-(?:1|256|512)\$\d/,
  /\{S?SHA(?:256|512)?\}[A-Za-z0-9+/=]{20}/,
  // With a password, with a token instead of a user, and addresses that are credentials.
  /\b[a-z][a-z0-9+.-]{0,20}:\/\/(?!\$?[{(<])[^\s/:@"'<>]{0,200}:(?!\d{1,5}(?:[/?#]|$)|(?:\*+|\$\{[^}\s]{1,80}\}|\$\([^)\s]{1,80}\)|\$[A-Z_]{1,60}|\{\{[^}]{1,80}\}\}|\{[\w.-]{1,60}\}|<[^>\s]{1,60}>|%[A-Za-z_]{1,60}%)@)[^\s@"'<>]{1,300}@/i,
  /\b[a-z][a-z0-9+.-]{0,20}:\/\/[\w-]{20,200}@/i,
  /\b[\w.-]{1,64}:(?!\$|\{|<)[^\s:@/"']{3,128}@(?:tcp|udp|unix)\(/,
  /\boracle:(?:thin|oci\d?):[^\s/:@]{1,64}\/(?![$<{])[^\s@]{1,128}@/i,
  /\bhooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)\/[A-Z0-9]{5}/i,
  /\bdiscord(?:app)?\.com\/api\/webhooks\/\d{5,30}\/[\w-]{20}/i,
  /\.webhook\.office\.com\/webhookb2\/[\w@-]{20}/i,
  /\bchat\.googleapis\.com\/v1\/spaces\/[^\s?]{1,80}\?key=/i,
  /\bhooks\.zapier\.com\/hooks\/catch\/\d/i,
  /[?&](?:sig|signature|x-amz-signature|x-goog-signature|access_token|auth_token|api_?key|apikey|key|token|sas|client_secret|auth|code)=(?![<{$*]|%[7{])[\w%+/.~-]{12}/i,
  /\bauthorization["'\\]{0,4}\s{0,9}(?:[:=]|\s)\s{0,9}["'\\]{0,4}(?:basic|bearer|token|digest|apikey|splunk|aws4-hmac-sha256)\s{1,9}(?![<{$*%])[^\s"'\\]{4}/i,
  /(?:^|["'\s])(?:bearer)\s+(?![<{$*%])(?=[\w.~+/-]{0,300}\d)[\w.~+/-]{20}/i,
  /^\s{0,9}(?:bearer|token|apikey|negotiate)\s{1,9}(?![<{$*%])(?=\S{0,300}\d)[\w.~+/=-]{6,4000}\s{0,9}$/i,
  // PKCS #12, JKS in base64, PuTTY.
  /\bMII[A-Za-z0-9+/]{2}[AQgw]IBAzC[AC]/,
  /(?<![A-Za-z0-9+/])\/u3\+7QAAAA/,
  /\bPrivate-Lines:\s{0,9}\d/,
  // MySQL, PostgreSQL, Werkzeug.
  /(?<![\w*])\*[0-9A-F]{40}(?![0-9A-Za-z])/,
  /(?<!\w)md5[0-9a-f]{32}(?!\w)/,
  /\b(?:scrypt:\d{1,9}:\d{1,3}:\d{1,3}|pbkdf2:sha\d{1,3}(?::\d{1,9})?)\$[^\s$]{1,64}\$[0-9a-f]{32}/,
  // Mattermost, healthchecks.io, IFTTT: the address is the credential.
  /:\/\/[^\s/]{1,253}\/hooks\/[a-z0-9]{26}\b/,
  /\bhc-ping\.com\/[\w-]{20}/,
  /\bmaker\.ifttt\.com\/[^\s?]{1,200}\/key\/[\w-]{10}/,
  // Oracle, Snowflake, Neo4j, without a scheme.
  /^[\w$]{1,64}\/(?![$<{/])(?=[^\s@]{0,128}\d)[^\s@/]{3,128}@(?:\/\/)?[\w.-]{1,253}:\d{2,5}\/\w/,
  /^[\w.+-]{1,64}:(?![$<{])(?=[^\s@]{0,128}\d)[^\s:@/"']{4,128}@[\w.-]{1,253}(?::\d{1,5})?\/[\w?=&.-]{1,300}$/,
  /^neo4j\/(?![$<{])(?=[^\s/:@]{0,128}\d)[^\s/:@]{6,128}$/,
]

const COMMANDS = [
  // The letter alone is not conclusive.
  /\bcurl\b[^\n]{0,300}\s(?:-\w{0,5}u|--user|--proxy-user)[ =]{0,2}["']?[\w.@-]{1,80}:(?![$<{])[^\s"']{3}/,
  /\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump|sshpass|mongo|mongosh|mongodump|docker login|redis-cli|ldapsearch|ldapadd)\b[^\n]{0,300}\s-[pwa] ?(?![$<{"-]|\s)[^\s"']{4}/,
  /\b(?:sqlplus|impdp|expdp|rman|sqlldr)\b[^\n]{0,300}\s[\w$]{1,64}\/(?![$<{/])[^\s@/]{3,128}@/,
  /\brabbitmqctl\b[^\n]{0,100}\s(?:add_user|change_password|authenticate_user)\s{1,9}\S{1,80}\s{1,9}["']?(?![$<{"'])\S{3}/,
  /\bhtpasswd\s{1,9}-\w{0,8}b\w{0,8}(?:\s{1,9}[^\s;|&>]{1,200}){1,4}?\s{1,9}["']?(?![$<{"'-])[^\s;|&>]{3,200}\s{0,9}(?:$|[;|&>])/m,
  /\b(?:sqlcmd|bcp)\b[^\n]{0,300}\s-P ?["']?(?![$<{"'-])\S{3}/,
  /\blftp\b[^\n]{0,300}\s-u ?[\w.@-]{1,80},(?![$<{"'-])\S{3}/,
  /\bmc\b[^\n]{0,100}\s(?:alias\s{1,9}set|config\s{1,9}host\s{1,9}add)\s{1,9}\S{1,80}\s{1,9}\S{1,300}\s{1,9}\S{1,200}\s{1,9}["']?(?![$<{"'])\S{3}/,
  /\s(?:-U|--user)[ =]?["']?[\w.@\\-]{1,80}%(?![$<{%])[^\s"']{3}/,
  /\bvault\s{1,9}login\s{1,9}(?:-\S{1,80}\s{1,9}){0,4}(?:token=)?(?![$<{"'-])(?=\S{0,300}\d)[^\s;|&>=]{4}/,
  /\baz\b[^\n]{0,100}\slogin\b[^\n]{0,300}\s(?:-p|--password)[ =]{1,2}["']?(?![$<{"'-])\S{3}/,
  /\bcreate\s{1,9}secret\b[^\n]{0,300}\s--from-literal[ =]["']?[\w.-]{1,80}=(?![$<{])[^\s"']{3}/,
  /\becho\s{1,9}(?:-n\s{1,9})?["']?[\w.-]{1,64}:(?![$<{])[^\s"'|]{3,200}["']?\s{0,9}\|\s{0,9}(?:\S{1,80}\s{1,9})?chpasswd\b/,
  /\bopenssl\b[^\n]{0,300}\s(?:-k|-K|-pass(?:in|out)?\s{1,9}pass:)\s{0,9}["']?(?![$<{"'-])[^\s;|&>]{4}/,
  /\bopenssl\s{1,9}passwd\b(?:\s{1,9}-\S{1,20}){0,5}\s{1,9}["']?(?![$<{"'-])[^\s;|&>)]{4}/,
  /\b(?:kinit|passwd|su|ssh-add)\b[^\n<]{0,200}<<<\s{0,9}["']?(?![$<{])[^\s"']{3}/,
  /\becho\s{1,9}(?:-n\s{1,9})?["']?(?![$<{])[^\s"'|]{3,200}["']?\s{0,9}\|\s{0,9}sudo\s{1,9}(?:-\w{1,9}\s{1,9}){0,3}-\w{0,5}S/,
  /\.(?:auth|login|authenticate)\(\s{0,9}["'][^"'\n]{1,80}["']\s{0,9},\s{0,9}["'](?![$<{])[^"'\n]{3}/,
  // After the user of the same command.
  /\s(?:-u|-U|--user(?:name)?)[ =]\S{1,100}(?:\s[^\n;|&]{0,200})?\s(?:-p|-P|-w) ?["']?(?![$<{"'-])(?=[^\s"']{0,300}\d)(?=[^\s"']{0,300}[A-Za-z])[^\s"':/]{4,300}(?=["']?(?:\s|$))/,
  /\bcurl\b[^\n]{0,300}\s(?:-E|--cert)[ =]["']?[\w./-]{1,200}:(?![$<{])[^\s"'/]{3}/,
  /\bhttps?\s(?:[^\n]{0,300}\s)?-a ?["']?[\w.@-]{1,80}:(?![$<{])[^\s"']{3}/,
  /\b(?:zip|unzip)\b[^\n;|&]{0,200}\s-P ?["']?(?![$<{"'-])\S{3}/,
  /\b7z[ar]?\b[^\n;|&]{0,200}\s-p["']?(?![$<{"'-])[^\s"']{3}/,
  /\bxfreerdp\w{0,9}\b[^\n;|&]{0,300}\s\/p:["']?(?![$<{"'])\S{3}/,
  /\bsnmp(?:walk|get|getnext|bulkget|bulkwalk|set|table)\b[^\n;|&]{0,200}\s-[cAX] ?["']?(?![$<{"'-])(?!public\b)\S{3}/,
  /\bnuget\s{1,9}push\b[^\n;|&]{0,300}\s-k ?["']?(?![$<{"'-])\S{3}/,
  /\binflux\b[^\n;|&]{0,200}\s-[tp] ?["']?(?![$<{"'-])(?=[^\s"']{0,300}\d)\S{6}/,
  /\bmosquitto_passwd\s{1,9}(?:-\S{1,9}\s{1,9}){0,3}-\w{0,8}b\w{0,8}\s{1,9}\S{1,200}\s{1,9}\S{1,80}\s{1,9}["']?(?![$<{"'-])\S{3}/,
  /\bwpa_passphrase\s{1,9}\S{1,80}\s{1,9}["']?(?![$<{"'-])\S{3}/,
  /\bnet\s{1,9}user\s{1,9}\S{1,80}\s{1,9}["']?(?![$<{"'/*-])\S{3,128}["']?\s{1,9}\/add\b/i,
  /\bconsul\s{1,9}acl\s{1,9}set-agent-token\s{1,9}(?:-\S{1,80}\s{1,9}){0,4}\w{1,40}\s{1,9}["']?(?![$<{"'-])\S{3}/,
  /\bvault\s{1,9}kv\s{1,9}(?:put|patch)\s{1,9}(?:-\S{1,80}\s{1,9}){0,4}\S{1,200}\s{1,9}(?:[^\n;|&]{0,200}\s)?\w[\w.-]{0,80}=["']?(?![$<{"'@-])[^\s"']{3}/,
  /\bvault\s{1,9}(?:operator\s{1,9})?unseal\s{1,9}(?:-\S{1,80}\s{1,9}){0,4}["']?(?![$<{"'-])\S{3}/,
  /\betcdctl\b[^\n;|&]{0,200}\suser\s{1,9}add\s{1,9}["']?[\w.-]{1,80}:(?![$<{])[^\s"']{3}/,
  /\b(?:gh\s{1,9}auth\s{1,9}login|docker\s{1,9}login|realm\s{1,9}join)\b[^\n<]{0,200}<<<\s{0,9}["']?(?![$<{])[^\s"']{3}/,
  // To another program, or to a file whose name says it.
  /\b(?:echo|printf)\s{1,9}(?:-\w\s{1,9}|["']?%s(?:\\n)?["']?\s{1,9}){0,2}["']?(?![$<{%])[^\s"'|]{3,200}["']?\s{0,9}\|\s{0,9}[^\n|]{0,200}(?:--(?:password|pass|token)-stdin|--with-token|\bpasswd\s[^\n|]{0,40}--stdin)/,
  /\b(?:echo|printf)\s{1,9}(?:-\w\s{1,9}|["']?%s(?:\\n)?["']?\s{1,9}){0,2}["']?(?![$<{%])(?=[^\s"'|>]{0,200}\d)[^\s"'|>]{3,200}["']?\s{0,9}>{1,2}\s{0,9}[^\s;|&]{0,100}(?:passw(?:or)?d|passphrase|secret|token|api[-_]?key)[\w.-]{0,20}(?=["']?(?:[\s;|&]|$))/i,
  /\b(?:getConnection|mysqli?_connect|mysqli|PDO|createConnection)\(\s{0,9}["'][^"'\n]{1,300}["']\s{0,9},\s{0,9}["'][^"'\n]{1,80}["']\s{0,9},\s{0,9}["'](?![$<{])[^"'\n]{3}/,
  /\bConvertTo-SecureString\s{1,9}(?:-String\s{1,9})?["'](?![$<{])[^"'\n]{3}/i,
]

const FILES = [
  // netrc, redis, LDAP, PostgreSQL's password file, HAProxy.
  /\blogin\s{1,20}\S{1,100}\s{1,20}password\s{1,20}\S/,
  /^\s{0,20}(?:requirepass|masterauth|bindpw|rootpw|ldap_bind_passwd|r[ow]community6?)\s{1,20}["']?(?![$<{])\S/m,
  /^(?:[\w.*-]{1,100}):(?:\d{3,5}|\*):[\w*.-]{1,100}:[\w*.-]{1,100}:(?!\$)(?:[^\s:\\]|\\.){3,200}$/m,
  /^\s{0,20}user\s{1,20}\S{1,80}\s{1,20}(?:insecure-)?password\s{1,20}\S{3}/m,
  /^\s{0,20}(?:acl\s{1,9}setuser|user)\s{1,20}[^\n]{1,300}?\s>(?![$<{])\S{3}/im,
  /\b(?:identified\b[^\n']{0,80}?\sby|password)[ \t]{1,20}(?:=[ \t]{0,9})?[a-z]?'(?![$<{:%])[^'\n]{3}/i,
  /^\s{0,20}createuser\s{1,20}(?:-e\s{1,9}\S{1,80}\s{1,9})?\S{1,80}\s{1,20}(?:MD5|SHA\S{0,6})\s{1,20}["']?(?![$<{])\S{3}/im,
  // chrony and ntpd: number, type, key.
  /^\s{0,20}\d{1,5}\s{1,20}(?:M|MD5|SHA-?\d{1,3}|SHA3-\d{3}|AES\d{3}|AES-\d{3}-CMAC)\s{1,20}(?:ASCII:|HEX:)?(?![$<{])\S{3}/m,
  // Postfix, PgBouncer, chpasswd.
  /^\s{0,20}(?:\[[\w.:-]{1,253}\](?::\w{1,20})?\s{1,20}[^\s:]{1,200}|[\w.:-]{1,253}\s{1,20}[^\s:@]{1,100}@[^\s:@]{1,200}):(?![$<{])[^\s/]{3,300}\s{0,9}$/m,
  /^"[^"\n]{1,64}"[ \t]{1,9}"(?![$<{])(?=[^"\n]{0,300}\d)[^"\s]{3,300}"[ \t]{0,9}$/m,
  /\bchpasswd\b[\s\S]{0,300}?^\s{0,40}(?:-\s{1,9})?[a-z_][\w-]{0,31}:(?![\s$<{*!])\S{3}/m,
  // Kubeconfig, container registry.
  /\bclient-key-data\b/,
  /["'\\]auths?["'\\]{1,4}\s{0,9}:\s{0,9}(?:\{|["'\\]{1,4}[A-Za-z0-9+/=]{6})/,
  /(?:^|[:/\s])_(?:authToken|auth|password)(?:\s{0,5}=\s{0,5}|[ \t]{1,5})(?![$=])\S{4}/m,
  // Users of Kafka, dovecot, coturn, passwd(5), Keycloak.
  /LoginModule\b[^;]{0,300}\suser_[\w.-]{1,80}=["']?(?![$<{"'])[^\s"';]{3}/,
  /\{(?:PLAIN|CLEARTEXT|CRYPT|MD5-CRYPT|PLAIN-MD5)\}[^\s:"'{}]{4}/,
  /\blt-cred-mech\b[\s\S]{0,500}?^[ \t]{0,9}user=[^\s:]{1,80}:\S{3}/m,
  /^[a-z_][\w-]{0,31}:(?![x*!]{1,2}:)[^\s:]{4,200}:\d{1,9}:\d{1,9}:[^:\n]{0,200}:\/[^:\n]{0,200}:\//m,
  /"type"\s{0,9}:\s{0,9}"(?:password|secret)"\s{0,9},\s{0,9}"value"\s{0,9}:\s{0,9}"(?![$<{])[^"\n]{3}/,
  // Sentinel of Redis, ipsec.secrets, NUT, GRUB, tokens of Consul.
  /^\s{0,20}sentinel\s{1,9}auth-pass\s{1,9}\S{1,100}\s{1,9}["']?(?![$<{])\S{3}/m,
  /^[^\n:]{0,200}:[ \t]{1,9}(?:PSK|EAP|XAUTH|NTLM)[ \t]{1,9}(?:"[^"\n]{3}|0[sx]\S{6}|(?=\S{0,200}\d)\S{6})/m,
  /^\s{0,20}MONITOR\s{1,9}\S{1,100}@\S{1,100}\s{1,9}\d{1,5}\s{1,9}\S{1,80}\s{1,9}\S{3,200}\s{1,9}(?:master|slave|primary|secondary)/m,
  /^[ \t]{0,20}password[ \t]{1,9}(?!required|requisite|sufficient|optional|include|substack)[\w.-]{1,40}[ \t]{1,9}(?!pam_|[$<{])(?=\S{0,200}\d)(?=\S{0,200}[A-Za-z])\S{4,200}[ \t]{0,9}$/m,
  /\btokens["']?\s{0,9}[:=]?\s{0,9}\{\s{0,60}["']?\w{1,40}["']?\s{0,9}[:=]\s{0,9}["'](?![$<{])(?=[^"'\s]{0,300}\d)[^"'\s]{6}/,
  /\bsnmp-server\s{1,9}community\s{1,9}(?![$<{])\S{3}/,
  /\b(?:tacacs|radius)(?:-server|\s{1,9}server)\b[^\n]{0,120}\skey\s{1,9}(?:[057]\s{1,9})?(?![$<{])\S{4}/,
  /\b(?:isakmp\s{1,9}key|message-digest-key\s{1,9}\d{1,3}\s{1,9}md5|authentication-key)\s{1,9}(?:[0567]\s{1,9})?(?![$<{])(?=\S{0,200}\d)\S{4}/,
]

export const KNOWN_FORMS: readonly RegExp[] = [...TOKENS, ...COMMANDS, ...FILES]
