import assert from 'node:assert/strict'
import { test } from 'node:test'
import { path } from '../../../../test/fakes/live-object.ts'
import type { Json } from '../../text/json.ts'
import { isLikelySecret } from './looks-secret.ts'

const JWT = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl'
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const CONTAINER = 'spec.template.spec.containers[name=app]'
const KEY = 'Zk3vQm9XbT2LrY7wPd5NcH8sJf4GaK6uVe1RxW0tBqM'
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

const HIDDEN: readonly (readonly [place: string, value: Json])[] = [
  // Added as a whole, a map hides what its field alone would.
  ['spec.apiKey', { name: 'COLOR', value: 'hunter2' }],
  ['spec.apiKey.value', 'hunter2'],
  ['data.password', 'hunter2'],
  ['data["db-password"]', 'hunter2'],
  ['data.DB_PASS', 'hunter2'],
  ['data.token', 'abc'],
  ['data["api.key"]', 'abc'],
  ['spec.clientSecret', 'abc'],
  ['spec.credentials.accessKey', 'abc'],
  ['spec.auth.token.value', 'abc'],
  ['spec.passwords.alice', 'hunter2'],
  ['spec.tokens[0]', 'abc'],
  ['spec.password', 123456],
  ['spec.pin', 123456],
  [`${CONTAINER}.env[name=DB_PASSWORD].value`, 'hunter2'],
  [`${CONTAINER}.env[name=DB_PASSWORD]`, { name: 'DB_PASSWORD', value: 'hunter2' }],
  [
    `${CONTAINER}.env`,
    [
      { name: 'COLOR', value: 'blue' },
      { name: 'GITHUB_TOKEN', value: 'abc' },
    ],
  ],
  [CONTAINER, { name: 'app', env: [{ name: 'AWS_SECRET_ACCESS_KEY', value: 'abc' }] }],
  [`${CONTAINER}.args`, ['--db-password=hunter2']],
  [`${CONTAINER}.args`, ['--verbose', '--password hunter2']],
  [`${CONTAINER}.args`, ['--verbose', '--db-password', 'hunter2']],
  [`${CONTAINER}.command`, ['sh', '-c', 'curl -H "Authorization: Bearer abcdefghijkl" x']],
  ['data.color', JWT],
  ['data.color', '-----BEGIN EC PRIVATE KEY-----\nMHc'],
  ['data.color', 'AKIAIOSFODNN7EXAMPLE'],
  // What only the library knows.
  ['data.color', `dapi${'0123456789abcdef'.repeat(2)}`],
  // In other encodings: once, twice, and in a text.
  ['data.color', base64('password=hunter2')],
  ['data.color', base64(base64('pin: x\npassword: hunter2'))],
  ['data.color', `config ${base64('password=hunter2')} end`],
  ['data.color', Buffer.from('password=hunter2').toString('hex')],
  ['data.color', 'glpat-abcdefghijklmnopqrst'],
  ['data.color', 'xoxb-123456789012-abcdefgh'],
  ['data.url', 'postgres://app:hunter2@db/app'],
  ['data.url', 'redis://:hunter2@cache:6379'],
  ['data["application.yaml"]', 'db:\n  user: app\n  password: hunter2\n'],
  ['data["app.properties"]', 'user=app\ndb.password=hunter2\n'],
  ['data["config.json"]', '{"auths":{"registry.example.com":{"auth":"dTpw"}}}'],
  ['data["config.json"]', '{"apiKey":"abcdef"}'],
  ['data.kubeconfig', 'users:\n- user:\n    client-key-data: LS0t'],
  // A key in a text, whatever stands around it.
  ['data.color', `zone:\n  tsig ${KEY}\n`],
  ['data.color', 'aXbYcZdAeBfCgDhEiFjGkHlImJnKoLpMqNrOsPtQu7v'],
  ['data.color', `sk.${base64('{"u":"shop","a":"0123456789ab"}')}.abcdefghijklmn`],
  ['data.color', `{"datacenter":"east","encrypt":"${KEY}="}`],
  ['data.color', `https://hooks.example.com/in/${KEY}`],
  // A user with a password, under a name that says so or in a file that is known for it.
  ['data.cnf', 'wsrep_sst_auth = sst:hunter2'],
  ['data["haproxy.cfg"]', 'listen stats\n  stats auth admin:hunter2\n'],
  ['data.squid', 'cache_peer p.example.com parent 3128 0 login=app:hunter2'],
  ['data.sasl', '[smtp.example.com]:587 app:hunter2\n'],
  ['data.sasl', 'smtp.example.com app@example.com:hunter2\n'],
  ['data["userlist.txt"]', '"app" "hunter2"\n'],
  ['data.user', '#cloud-config\nchpasswd:\n  list: |\n    root:hunter2\n'],
  ['data.jdbc', 'jdbc:oracle:thin:app/hunter2@//db:1521/shop'],
  [`${CONTAINER}.args`, ['--user', 'root:hunter2']],
  // The value in quotes behind its name, and in an element of its own.
  ['data["init.sql"]', "CREATE USER 'app'@'%' IDENTIFIED BY 'hunter'"],
  ['data["init.sql"]', "ALTER USER app IDENTIFIED WITH caching_sha2_password BY 'hunter'"],
  ['data["init.sql"]', "CREATE LOGIN app WITH PASSWORD = N'hunter'"],
  ['data["init.sql"]', "ALTER ROLE app PASSWORD 'hunter'"],
  ['data.php', "define( 'NONCE_SALT', 'a1 b' );"],
  ['data.named', 'key "a" { secret "hunter2"; };'],
  ['data["core-site.xml"]', '<name>fs.s3a.secret.key</name>\n<value>hunter</value>'],
  // Commands and files in which the place says it.
  ['data["users.acl"]', 'user app on >hunter ~* +@all'],
  ['data["snmpd.conf"]', 'createUser ada SHA hunter AES'],
  [`${CONTAINER}.args`, ['sh', '-c', 'mc alias set s3 https://s3.example.com key hunter']],
  [`${CONTAINER}.args`, ['sh', '-c', 'rabbitmqctl add_user app hunter']],
  [`${CONTAINER}.args`, ['sh', '-c', 'htpasswd -bc /auth ada hunter && serve']],
  [`${CONTAINER}.args`, ['sh', '-c', 'smbclient //files/shop -U app%hunter']],
  [`${CONTAINER}.args`, ['sh', '-c', 'lftp -u app,hunter ftp.example.com']],
  [`${CONTAINER}.args`, ['sqlcmd', '-U', 'sa', '-P', 'hunter']],
  [`${CONTAINER}.args`, ['erl', '-setcookie', 'HUNTER']],
  [`${CONTAINER}.env[name=SNMP_COMMUNITY].value`, 'hunter'],
  ['data["wpa.conf"]', 'psk="hunter"'],
  [`metadata.annotations["${LAST_APPLIED}"]`, '{}'],
  ['spec.template.metadata.annotations', { [LAST_APPLIED]: '{"data":{"x":"aHVudGVyMg=="}}' }],
  ['spec.manifest', { apiVersion: 'v1', kind: 'Secret', data: { x: 'aHVudGVyMg==' } }],
  ['spec.allowed[="ghp_abcdefghijklmnopqrstuvwxyz0123456789"]', 'x'],
]

for (const [location, value] of HIDDEN) {
  test(`hidden: ${location} ${JSON.stringify(value).slice(0, 60)}`, () =>
    assert.ok(isLikelySecret(path(location), value)))
}

const SHOWN: readonly (readonly [place: string, value: Json])[] = [
  ['spec.replicas', 5],
  ['data.color', 'blue'],
  ['data.tokenizer', 'bpe'],
  ['spec.maxTokens', 5],
  ['spec.secretName', 'web-tls'],
  ['spec.tls[0].secretName', 'web-tls'],
  ['spec.tls', [{ hosts: ['a'], secretName: 'web-tls' }]],
  ['spec.passwordSecretRef.name', 'db'],
  ['spec.passwordSecretRef.key', 'password'],
  ['spec.passwordSecretRef', { name: 'db', key: 'password' }],
  ['spec.secretStoreRef.kind', 'ClusterSecretStore'],
  ['spec.tokenReview', 'abc'],
  ['spec.template.spec.imagePullSecrets', [{ name: 'regcred' }]],
  ['spec.template.spec.imagePullSecrets[name=regcred]', { name: 'regcred' }],
  ['spec.template.spec.imagePullSecrets[0].name', 'regcred'],
  ['secrets[0].name', 'builder-token'],
  ['automountServiceAccountToken', false],
  ['spec.template.spec.volumes[name=tls].secret.secretName', 'web-tls'],
  ['spec.template.spec.volumes[name=t].projected.sources[0].serviceAccountToken.path', 'token'],
  [
    'spec.template.spec.volumes[name=t].projected.sources[0].serviceAccountToken.expirationSeconds',
    3600,
  ],
  [`${CONTAINER}.env[name=DB_PASSWORD].valueFrom.secretKeyRef.name`, 'db'],
  [`${CONTAINER}.env[name=DB_PASSWORD].valueFrom.secretKeyRef.key`, 'password'],
  [
    `${CONTAINER}.env[name=DB_PASSWORD]`,
    { name: 'DB_PASSWORD', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } },
  ],
  [`${CONTAINER}.env[name=PASSWORD_FILE].value`, '/run/secrets/db'],
  [`${CONTAINER}.env[name=TOKEN_URL].value`, 'https://auth.example.com/token'],
  [`${CONTAINER}.env[name=REQUIRE_TOKEN].value`, 'true'],
  [`${CONTAINER}.env[name=DB_PASSWORD].value`, '$(OTHER)'],
  [
    `${CONTAINER}.args`,
    ['--password-file', '/run/secrets/db', '--verbose', 'x', '--token', '$(TOKEN)'],
  ],
  [
    `${CONTAINER}.args`,
    ['--password-file=/run/secrets/db', '--token=$(TOKEN)', '--secret-name=web'],
  ],
  ['spec.template.spec.containers[name=token-refresher].image', 'refresher:2'],
  ['spec.template.spec.containers[name=token-refresher].resources', { limits: { cpu: '1' } }],
  [`${CONTAINER}.volumeMounts[mountPath="/var/run/secrets/tokens"].name`, 'token-volume'],
  ['spec.template.spec.serviceAccountName', 'secret-reader'],
  ['rules[0].resources', ['secrets', 'configmaps']],
  ['metadata.labels["app.kubernetes.io/name"]', 'token-service'],
  ['metadata.annotations["cert-manager.io/secret-name"]', 'web'],
  [
    'data["nginx.conf"]',
    'proxy_set_header X-Request-Id $request_id;\nlocation /token/ { return 200; }',
  ],
  [
    'data["app.yaml"]',
    'auth:\n  tokenUrl: https://auth.example.com/token\n  secretName: db\n  password: ${DB_PASSWORD}\n',
  ],
  ['data.text', 'Basic authentication is required; the password is in the vault'],
  ['data.url', 'https://example.com:8443/a@b'],
  // Published, encrypted, or made of words.
  ['data["ca.crt"]', `-----BEGIN CERTIFICATE-----\n${KEY}\n-----END CERTIFICATE-----\n`],
  ['data["a.asc"]', `-----BEGIN PGP MESSAGE-----\n\n${KEY}\n=a1b2\n-----END PGP MESSAGE-----\n`],
  ['data.known', `git.example.com ssh-ed25519 ${KEY}`],
  ['data.lock', `"integrity": "sha512-${KEY}="`],
  ['data.jwks', `{"keys":[{"kty":"EC","kid":"${KEY}","x":"${KEY}","y":"${KEY}"}]}`],
  [
    'data.url',
    'https://git.example.com/Acme/Shop2/blob/0123456789abcdef0123456789abcdef01234567/README-1.md',
  ],
  ['data.alert', 'CephRBDMirrorImagesNotInSyncVeryHighRBDs'],
  ['data.class', 'HorizontalPodAutoscalerV2ScalingBehaviorReconcilerConfiguration'],
  // Users, groups, ports and references.
  ['data.text', 'secret "web-tls" was not found'],
  ['data.text', 'translate("password", "Passwort")'],
  ['data.compose', 'user: system:node1\nlogin: db1.example.com:5432\n'],
  ['data["haproxy.cfg"]', 'stats auth admin:$STATS\nauth: host1:8080\n'],
  ['data["userlist.txt"]', '"app" "words only"\n"a" "b"\n'],
  ['data["init.sql"]', "IDENTIFIED BY '${PASSWORD}'"],
  ['data.remotes', 'origin git@git.example.com:acme/deploy2.git'],
  ['data["users.acl"]', 'user default off nopass ~* +@all'],
  ['data["core-site.xml"]', '<name>fs.s3a.endpoint</name><value>https://s3.example.com</value>'],
  [`${CONTAINER}.args`, ['sh', '-c', 'htpasswd -bc /auth ada $PASSWORD']],
  [`${CONTAINER}.args`, ['sh', '-c', 'rabbitmqctl add_user app "$PASSWORD"']],
  [`${CONTAINER}.args`, ['sh', '-c', 'mc alias set s3 https://s3.example.com "$KEY" "$SECRET"']],
]

for (const [position, value] of SHOWN) {
  test(`shown: ${position} ${JSON.stringify(value).slice(0, 60)}`, () =>
    assert.ok(!isLikelySecret(path(position), value)))
}
