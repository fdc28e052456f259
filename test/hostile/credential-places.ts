/**
 * 194 places at which a credential stands because of its name or its place, in the shapes that people and programs give values, and 60 values that
 * are none under names that look like one. The groups, and how many places each has, are those of an attack on an earlier version; the places are
 * written anew from the documentation of the programs that they are of.
 */
import type { Json } from '@backporch/kyaml/json'
import { base64, CONTAINER, type Draw } from './credential-forms.ts'

export interface Place {
  readonly group: string
  /** As a path of a field. */
  readonly location: string
  readonly value: Json
}

/** How a value looks that a program, a long-lived token and a person chose. */
export const SHAPES: Readonly<Record<'short' | 'long' | 'human', (draw: Draw) => string>> = {
  short: (draw) =>
    `${draw.text(5, 'abcdefghijklmnopqrstuvwxyz')}${draw.text(1, '23456789')}${draw.text(6, 'abcdefghjkmnpqrstuvwxyz23456789')}`,
  long: (draw) => `${draw.text(12)}${draw.text(2, '23456789')}${draw.text(12)}`,
  human: (draw) =>
    `${draw.text(1, 'BCDFGHKLMT')}${draw.text(4, 'aeiourstn')}${draw.text(4, '123456789')}_${draw.text(1, 'abcdefghij')}`,
}

const basic = (x: string): string => `Basic ${base64(`admin:${x}`)}`

/** Fields of custom resources, below `spec`: 62. */
const FIELDS: readonly (readonly [field: string, value: (x: string) => Json])[] = [
  ...[
    ...[
      'password',
      'adminPassword',
      'database.password',
      'rootPassword',
      'bindPassword',
      'sshPassword',
      'smtpPassword',
      'dbPass',
    ],
    ...[
      'clientSecret',
      'oauth2.clientSecret',
      'webhookSecret',
      'sharedSecret',
      'hmacSecret',
      'secretKey',
      'secretAccessKey',
    ],
    ...[
      'token',
      'accessToken',
      'refreshToken',
      'apiToken',
      'joinToken',
      'bootstrapToken',
      'sasToken',
      'bearerToken',
      'bearer',
    ],
    ...[
      'apiKey',
      'privateKey',
      'signingKey',
      'encryptionKey',
      'masterKey',
      'licenseKey',
      'unsealKey',
      'recoveryKey',
      'accountKey',
    ],
    ...[
      'storageKey',
      'passphrase',
      'psk',
      'connectionString',
      'auth.password',
      'auth.token',
      'credentials.password',
      'tokens.alice',
    ],
    ...[
      'passwords.bob',
      'community',
      'snmp.community',
      'snmpCommunity',
      'readCommunity',
      'wifiKey',
      'md5Key',
      'headers["X-Auth"]',
    ],
    ...['headers["X-Api-Key"]', 'preSharedKey'],
  ].map((field) => [field, (x: string) => x] as const),
  ['headers.authorization', basic],
  ['headers.Authorization', (x) => `Bearer ${x}`],
  ['headers["Proxy-Authorization"]', basic],
  ['headers.Cookie', (x) => `session=${x}`],
  ['requestHeaders', (x) => [{ name: 'Authorization', value: `Bearer ${x}` }]],
  ['responseHeaders', (x) => [{ key: 'Authorization', value: basic(x) }]],
  ['auth', (x) => `admin:${x}`],
  ['basicAuth', (x) => `admin:${x}`],
  ['users', (x) => [{ name: 'ada', password: x }]],
  ['connection', (x) => `postgres://app:${x}@db/shop`],
  ['remote', (x) => `https://ada:${x}@git.example.com/shop.git`],
]

/** Values of ConfigMaps, by key: 51. */
const TEXTS: readonly (readonly [key: string, value: (x: string) => string])[] = [
  ['Authorization', basic],
  ['authorization', (x) => `Bearer ${x}`],
  ['proxy-authorization', basic],
  ['Cookie', (x) => `session=${x}; theme=dark`],
  ['x-api-key', (x) => x],
  ['auth', (x) => `admin:${x}`],
  ['basicAuth', (x) => `admin:${x}`],
  ['app.properties', (x) => `user=app\ndb.password=${x}\n`],
  ['application.yaml', (x) => `db:\n  user: app\n  password: ${x}\n`],
  ['app.env', (x) => `USER=app\nDB_PASSWORD=${x}\n`],
  ['config.json', (x) => `{"user":"app","password":"${x}"}`],
  ['app.ini', (x) => `[db]\nuser = app\npassword = ${x}\n`],
  ['app.toml', (x) => `[db]\npassword = "${x}"\n`],
  ['app.xml', (x) => `<db><password>${x}</password></db>`],
  ['web.config', (x) => `<add key="ApiToken" value="${x}"/>`],
  ['mosquitto.conf', (x) => `connection bridge\nremote_username edge\nremote_password ${x}\n`],
  ['msmtprc', (x) => `account shop\nuser app\npassword ${x}\n`],
  ['frr.conf', (x) => `router bgp 65000\n neighbor 10.0.0.1 password ${x}\n`],
  ['switch.conf', (x) => `hostname sw1\nusername ada password 0 ${x}\n`],
  ['enable.conf', (x) => `enable password ${x}\nline vty 0 4\n`],
  ['sssd.conf', (x) => `[domain/shop]\nldap_default_authtok = ${x}\n`],
  ['chrony.keys', (x) => `# id type key\n1 SHA1 ${x}\n`],
  ['keepalived.conf', (x) => `authentication {\n  auth_type PASS\n  auth_pass ${x}\n}\n`],
  ['strongswan.secrets', (x) => `secret ${x}\n`],
  ['agent.conf', (x) => `server a.example.com\ntoken ${x}\n`],
  ['relay.conf', (x) => `smtp_host mail\nsmtp_password ${x}\n`],
  ['client.ovpn', (x) => `remote vpn.example.com\ntls-crypt-key ${x}\n`],
  ['redis.conf', (x) => `port 6379\nrequirepass ${x}\n`],
  ['replica.conf', (x) => `masterauth ${x}\n`],
  ['netrc', (x) => `machine git.example.com login app password ${x}\n`],
  ['pgpass', (x) => `db:5432:shop:app:${x}\n`],
  ['userlist.txt', (x) => `"app" "${x}"\n`],
  ['haproxy.cfg', (x) => `userlist a\n  user ada insecure-password ${x}\n`],
  ['stats.cfg', (x) => `listen stats\n  stats auth admin:${x}\n`],
  ['wpa.conf', (x) => `network={\n  psk="${x}"\n}\n`],
  ['my.cnf', (x) => `[client]\npassword=${x}\n`],
  ['npmrc', (x) => `//registry.example.com/:_authToken=${x}\n`],
  ['pip.conf', (x) => `[global]\nindex-url = https://app:${x}@pypi.example.com/simple\n`],
  ['docker.json', (x) => `{"auths":{"r.example.com":{"auth":"${base64(`app:${x}`)}"}}}`],
  ['kubeconfig', (x) => `apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user: {token: ${x}}\n`],
  ['s3cfg', (x) => `[default]\naccess_key = AKIA\nsecret_key = ${x}\n`],
  ['rclone.conf', (x) => `[ftp]\ntype = ftp\npass = ${x}\n`],
  ['shop.tfvars', (x) => `db_password = "${x}"\n`],
  ['settings.php', (x) => `define('DB_PASSWORD', '${x}');\n`],
  ['init.sql', (x) => `CREATE USER app IDENTIFIED BY '${x}';\n`],
  ['init.js', (x) => `db = connect('shop')\ndb.auth("admin", "${x}")\n`],
  ['settings.py', (x) => `DATABASES = {'default': {'PASSWORD': '${x}'}}\n`],
  ['snmpd.conf', (x) => `agentaddress udp:161\nrocommunity ${x} 10.0.0.0/8\n`],
  ['nginx.conf', (x) => `proxy_set_header Authorization "${basic(x)}";\n`],
  ['slapd.conf', (x) => `rootdn "cn=admin"\nrootpw ${x}\n`],
  ['sasl_passwd', (x) => `[smtp.example.com]:587 app:${x}\n`],
]

/** Environment variables: 40. */
const VARIABLES: readonly (readonly [name: string, value: (x: string) => string])[] = [
  ...[
    ...[
      'DB_PASSWORD',
      'DBPASS',
      'MYSQL_ROOT_PASSWORD',
      'PGPASSWORD',
      'REDIS_PASSWORD',
      'ADMIN_PASS',
      'SMTP_PW',
      'LDAP_BINDPW',
    ],
    ...[
      'API_KEY',
      'DD_API_KEY',
      'APIKEY',
      'STRIPE_SECRET_KEY',
      'SECRET_KEY_BASE',
      'ENCRYPTION_KEY',
      'JWT_SECRET',
      'SESSION_SECRET',
    ],
    ...[
      'CLIENT_SECRET',
      'AWS_SECRET_ACCESS_KEY',
      'GITHUB_TOKEN',
      'SLACK_BOT_TOKEN',
      'NPM_TOKEN',
      'VAULT_TOKEN',
      'ACCESS_TOKEN',
    ],
    ...[
      'ERLANG_COOKIE',
      'RABBITMQ_ERLANG_COOKIE',
      'AUTH_SALT',
      'HASH_PEPPER',
      'SNMP_COMMUNITY',
      'TWILIO_AUTH',
      'REDIS_AUTH',
      'OTP_SEED',
    ],
    ...['X_FUNCTIONS_KEY', 'NEW_RELIC_LICENSE_KEY'],
  ].map((name) => [name, (x: string) => x] as const),
  ['AUTHORIZATION', basic],
  ['UPSTREAM_AUTH', (x) => `admin:${x}`],
  ['HEADER', basic],
  ['EXTRA_HEADER', (x) => `Authorization: Bearer ${x}`],
  ['DATABASE_URL', (x) => `postgres://app:${x}@db/shop`],
  ['JAVA_OPTS', (x) => `-Xmx512m -Djavax.net.ssl.keyStorePassword=${x}`],
  ['LOGIN', (x) => `admin:${x}`],
]

/** Arguments of containers: 24. */
const ARGUMENTS: readonly ((x: string) => readonly string[])[] = [
  (x) => [`--password=${x}`],
  (x) => ['--password', x],
  (x) => ['--db-password', x, '--verbose'],
  (x) => [`--token=${x}`],
  (x) => ['-token', x],
  (x) => ['--requirepass', x],
  (x) => ['--masterauth', x],
  (x) => ['--user', `root:${x}`],
  (x) => ['sh', '-c', `curl -u app:${x} https://a.example.com`],
  (x) => ['sh', '-c', `curl -H "Authorization: Bearer ${x}" https://a.example.com`],
  (x) => ['sh', '-c', `curl -H 'X-Api-Key: ${x}' https://a.example.com`],
  (x) => ['sh', '-c', `mysql -u root -p${x} -e 'select 1'`],
  (x) => ['sh', '-c', `redis-cli -a ${x} ping`],
  (x) => ['sh', '-c', `PGPASSWORD=${x} psql -h db`],
  (x) => ['sh', '-c', `vault login ${x}`],
  (x) => ['sh', '-c', `az login --service-principal -u app -p ${x} --tenant t`],
  (x) => ['sh', '-c', `kubectl create secret generic web --from-literal=a=${x}`],
  (x) => ['sh', '-c', `echo "admin:${x}" | chpasswd`],
  (x) => ['sh', '-c', `openssl enc -aes-256-cbc -k ${x} -in a`],
  (x) => ['sh', '-c', `useradd -p "$(openssl passwd -1 ${x})" ada`],
  (x) => ['sh', '-c', `kinit ada@EXAMPLE.COM <<< ${x}`],
  (x) => ['sh', '-c', `echo ${x} | sudo -S systemctl restart a`],
  (x) => ['mongosh', '--eval', `db.auth("admin","${x}")`],
  (x) => ['sshpass', '-p', x, 'ssh', 'a.example.com'],
]

/** Annotations: 8. */
const ANNOTATIONS: readonly (readonly [name: string, value: (x: string) => string])[] = [
  ['example.com/password', (x) => x],
  ['example.com/api-token', (x) => x],
  ['example.com/authorization', basic],
  [
    'nginx.ingress.kubernetes.io/configuration-snippet',
    (x) => `proxy_set_header Authorization "${basic(x)}";`,
  ],
  [
    'nginx.ingress.kubernetes.io/auth-snippet',
    (x) => `set $token "${x}";\nproxy_set_header X-Token ${x};`,
  ],
  ['example.com/webhook', (x) => `https://app:${x}@hooks.example.com/in`],
  ['example.com/env', (x) => `DB_PASSWORD=${x}`],
  ['kubectl.kubernetes.io/last-applied-configuration', (x) => `{"data":{"color":"${x}"}}`],
]

const SCRIPTS: readonly ((x: string) => string)[] = [
  (x) => `#!/bin/sh\nexport PASSWORD=${x}\nexec app\n`,
  (x) => `#cloud-config\nchpasswd:\n  list: |\n    root:${x}\n`,
  (x) => `#!/bin/sh\nvault login ${x} > /dev/null\n`,
]

/** The places, with a value of the shape at each: 62, 51, 40, 24, 8, 3, 2, 3 and 1. */
export function placesOf(x: string): readonly Place[] {
  const at = (group: string, location: string, value: Json): Place => ({ group, location, value })
  const probe = `${CONTAINER}.livenessProbe.httpGet.httpHeaders`
  return [
    ...FIELDS.map(([field, value]) => at('field', `spec.${field}`, value(x))),
    ...TEXTS.map(([key, value]) => at('ConfigMap', `data["${key}"]`, value(x))),
    ...VARIABLES.map(([name, value]) =>
      at('variable', `${CONTAINER}.env[name=${name}].value`, value(x)),
    ),
    ...ARGUMENTS.map((make) => at('arguments', `${CONTAINER}.args`, [...make(x)])),
    ...ANNOTATIONS.map(([name, value]) =>
      at('annotation', `metadata.annotations["${name}"]`, value(x)),
    ),
    ...SCRIPTS.map((make) => at('script', 'data["start.sh"]', make(x))),
    at('probe', `${probe}[0].value`, basic(x)),
    at('probe', probe, [{ name: 'Authorization', value: `Bearer ${x}` }]),
    at('Secret', 'metadata.labels["example.com/color"]', x),
    // The API server of Kubernetes takes no name without a domain.
    at('Secret', 'metadata.finalizers', [`example.com/${x}`]),
    at('Secret', 'data.color', base64(x)),
    at('CSI', 'spec.csi.volumeAttributes.clientSecret', x),
  ]
}

const ENV = (name: string, value: string): readonly [string, Json] => [
  `${CONTAINER}.env[name=${name}].value`,
  value,
]

/** 60 values that are no credentials: settings of language models, limits, names, references and texts for people. */
export const HARMLESS: readonly (readonly [location: string, value: Json])[] = [
  ENV('MAX_TOKENS', '4096'),
  ENV('max_tokens', '8192'),
  ENV('tokens_per_minute', '90000'),
  ENV('TOKENS_PER_MINUTE', '90k'),
  ENV('tokenBudget', '2000'),
  ENV('TOKEN_BUDGET', '2M'),
  ENV('MAX_COMPLETION_TOKENS', '1024'),
  ENV('maxNewTokens', '512'),
  ENV('TOKEN_LIMIT', '10000'),
  ENV('TOKEN_COUNT', '17'),
  ENV('TOKEN_URL', 'https://auth.example.com/token'),
  ENV('TOKEN_TTL', '15m'),
  ENV('TOKEN_EXPIRY', '3600s'),
  ENV('TOKEN_TYPE', 'bearer'),
  ENV('TOKENIZER', 'cl100k_base'),
  ENV('TOKENIZERS_PARALLELISM', 'false'),
  ENV('PASS_THROUGH', 'X-Request-Id'),
  ENV('PASSTHROUGH_MODE', 'full'),
  ENV('PASSPORT_STRATEGY', 'saml'),
  ENV('BYPASS', '10.0.0.0/8'),
  ENV('COMPASS', 'north-east'),
  ENV('secretary', 'office@example.com'),
  ENV('SECRETARIAT', 'Room 4711'),
  ENV('SECRET_NAME', 'web-tls'),
  ENV('PASSWORD_FILE', '/run/secrets/db'),
  ENV('PASSWORD_MIN_LENGTH', '12'),
  ENV('PASSWORD_POLICY', 'strong'),
  ENV('PASSWORD_RESET_ENABLED', 'true'),
  ENV('AUTH_ENABLED', 'true'),
  ENV('AUTH_MODE', 'oidc'),
  ENV('AUTH_PROVIDER', 'dex'),
  ENV('AUTHORIZATION_MODE', 'RBAC'),
  ENV('API_KEY_HEADER', 'X-Api-Key'),
  ENV('KEY_PREFIX', 'shop:'),
  ENV(
    'PUBLIC_KEY',
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJhY2twb3JjaGJhY2twb3JjaGJhY2twb3JjaGJhY2tw ada@example.com',
  ),
  ENV('COOKIE_NAME', 'session'),
  ENV('COOKIE_DOMAIN', 'example.com'),
  ENV('SESSION_TIMEOUT', '30m'),
  ENV('PIN_CPU', 'true'),
  ENV('SEED', '42'),
  ['data.machineKeyboard', 'de-latin1'],
  ['data.hostKeyboard', 'us-intl2'],
  ['data.topologyKey', 'topology.kubernetes.io/zone'],
  ['data.partitionKey', 'customer-id2'],
  ['data.communityEdition', 'true'],
  ['data.communities', '65000:100 65000:200'],
  ['data["login.properties"]', 'login.password=Password\nlogin.title=Sign in\n'],
  ['data["messages_de.properties"]', 'login.password=Passwort\n'],
  [
    'data["help.txt"]',
    'Enter your password below. The token is sent by mail, and the secret is kept.\n',
  ],
  ['data["notes.md"]', 'Basic authentication is required; the password is in the vault.\n'],
  [
    'data["nginx.conf"]',
    'proxy_set_header Authorization $http_authorization;\nproxy_pass http://app2:8080;\n',
  ],
  ['data["haproxy.cfg"]', 'server app2 10.0.0.2:8080 check\nuse_backend auth2 if auth\n'],
  ['data["mosquitto.conf"]', 'password_file /mosquitto/passwd2\nallow_anonymous false\n'],
  [
    'data["sshd_config"]',
    'PasswordAuthentication no\nPermitEmptyPasswords no\nPubkeyAuthentication yes\n',
  ],
  ['data["pam.d"]', 'password required pam_unix2.so sha512\nauth sufficient pam_ldap2.so\n'],
  [
    'data["prometheus.yaml"]',
    'basic_auth:\n  username: app2\n  password_file: /etc/pw\nauthorization:\n  credentials_file: /etc/token2\n',
  ],
  ['spec.authorization.type', 'simple'],
  ['spec.authorization', { type: 'keycloak', clientId: 'kafka2', superUsers: ['CN=admin2'] }],
  ['spec.bgp.community', '65000:100'],
  [
    `${CONTAINER}.args`,
    ['vault', 'server', '-config=/etc/vault2.hcl', '--max-tokens', '4096', '--auth-mode', 'oidc2'],
  ],
]
