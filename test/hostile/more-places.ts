/**
 * Places at which 462 forms of the author's own knowledge were tried after those of credential-places.ts: 74 of them were shown, and are hidden now. Beside them
 * values that look nearly so, and are none.
 */
import type { Json } from '@backporch/kyaml/json'
import { base64, CONTAINER, type Draw } from './credential-forms.ts'

export type MorePlace = readonly [location: string, value: (x: string, draw: Draw) => Json]

const text = (key: string, value: (x: string, draw: Draw) => string): MorePlace => [
  `data["${key}"]`,
  value,
]
const variable = (name: string, value: (x: string, draw: Draw) => string): MorePlace => [
  `${CONTAINER}.env[name=${name}].value`,
  value,
]
const shell = (value: (x: string) => string): MorePlace => [
  `${CONTAINER}.args`,
  (x) => ['sh', '-c', value(x)],
]

/** The first bytes of a keystore of `openssl pkcs12 -export`, and its length. */
const keystore = (draw: Draw): string =>
  `${Buffer.from('308209f7020103308209bd', 'hex').toString('base64').slice(0, 12)}${draw.text(60)}`

export const MORE_PLACES: readonly MorePlace[] = [
  // Files.
  text(
    'jaas.conf',
    (x) =>
      `KafkaServer {\n  org.apache.kafka.common.security.plain.PlainLoginModule required\n  user_alice="${x}";\n};\n`,
  ),
  text('sentinel.conf', (x) => `sentinel auth-pass mymaster ${x}\n`),
  text('keystore.p12', (_, draw) => keystore(draw)),
  text('keystore.jks', (_, draw) => `/u3+7QAAAAIAAAAB${draw.text(20, 'abcdef')}`),
  text(
    'id.ppk',
    (x) => `PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n${base64(x)}\n`,
  ),
  text('outputs.json', (x) => `{"outputs":{"db_password":{"value":"${x}","type":"string"}}}`),
  text('values.yaml', (x) => `admin:\n  password:\n    value: ${x}\n`),
  text(
    'unattend.xml',
    (x) =>
      `<AutoLogon><Password><Value>${x}</Value><PlainText>true</PlainText></Password></AutoLogon>`,
  ),
  text('realm.json', (x) => `{"users":[{"credentials":[{"type":"password","value":"${x}"}]}]}`),
  text('turnserver.conf', (x) => `lt-cred-mech\nuser=ada:${x}\n`),
  text('dovecot.users', (x) => `ada:{PLAIN}${x}::::::\n`),
  text('ipsec.secrets', (x) => `: PSK ${x}\n`),
  text('eap.secrets', (x) => `ada : EAP "${x}"\n`),
  text('xauth.secrets', (x) => `ada : XAUTH ${x}\n`),
  text('switch.cfg', (x) => `snmp-server community ${x} RO\n`),
  text('tacacs.cfg', (x) => `tacacs-server host 10.0.0.1 key ${x}\n`),
  text('isakmp.cfg', (x) => `crypto isakmp key ${x} address 0.0.0.0\n`),
  text('ospf.cfg', (x) => ` ip ospf message-digest-key 1 md5 ${x}\n`),
  text('upsmon.conf', (x) => `MONITOR ups@localhost 1 upsmon ${x} primary\n`),
  text('consul.hcl', (x) => `acl {\n  tokens {\n    agent = "${x}"\n  }\n}\n`),
  text('grub.cfg', (x) => `set superusers="root"\npassword root ${x}\n`),
  text('passwd', (x) => `root:${x}:0:0:root:/root:/bin/bash\n`),
  text('app.js', (x) => `const apiKey = process.env.API_KEY || '${x}'\n`),
  text('Main.java', (x) => `DriverManager.getConnection("jdbc:mysql://db/a", "root", "${x}");\n`),
  text('db.php', (x) => `$conn = mysqli_connect("db", "root", "${x}");\n`),
  text('setup.ps1', (x) => `$sec = ConvertTo-SecureString "${x}" -AsPlainText -Force\n`),
  text('setup.cmd', (x) => `net user ada ${x} /add\n`),
  // Values that are credentials themselves.
  variable('SNOWFLAKE', (x) => `app:${x}@acme.eu-central-1/shop`),
  variable('ORACLE', (x) => `app/${x}@//db:1521/shop`),
  variable('ORACLE_EZ', (x) => `app/${x}@db:1521/shop`),
  variable('GRAPH', (x) => `neo4j/${x}`),
  variable(
    'CHAT',
    (_, draw) =>
      `https://chat.example.com/hooks/${draw.text(26, 'abcdefghijklmnopqrstuvwxyz0123456789')}`,
  ),
  variable(
    'PING',
    (_, draw) => `https://hc-ping.com/${draw.hex(8)}-1111-4111-8111-${draw.hex(12)}`,
  ),
  variable('IFTTT', (_, draw) => `https://maker.ifttt.com/trigger/a/with/key/${draw.text(22)}`),
  variable('MYSQL_NATIVE', (_, draw) => `*${draw.text(40, '0123456789ABCDEF')}`),
  variable('POSTGRES_MD5', (_, draw) => `md5${draw.hex(32)}`),
  variable('WERKZEUG', (_, draw) => `scrypt:32768:8:1$${draw.text(16)}$${draw.hex(128)}`),
  variable('HTTP_BASIC', (x) => `ada:${x}`),
  variable('OTEL_EXPORTER_OTLP_HEADERS', (x) => `x-honeycomb-team=${x}`),
  ['spec.hmac', (_, draw) => draw.text(26)],
  ['spec.keytab', (_, draw) => base64(draw.text(40))],
  // Commands.
  shell((x) => `http -a ada:${x} https://a.example.com`),
  shell((x) => `helm registry login -u a -p ${x} r.example.com`),
  shell((x) => `podman login -u a -p ${x} r.example.com`),
  shell((x) => `crane auth login r.example.com -u a -p ${x}`),
  shell((x) => `oc login -u a -p ${x} https://a.example.com`),
  shell((x) => `cqlsh -u a -p ${x} db`),
  shell((x) => `twine upload -u __token__ -p ${x} dist/a`),
  shell((x) => `rabbitmqadmin -u a -p ${x} list queues`),
  shell((x) => `mosquitto_pub -u a -P ${x} -t a -m b`),
  shell((x) => `ipmitool -H h -U a -P ${x} power on`),
  shell((x) => `skopeo copy --src-creds a:${x} docker://a docker://b`),
  shell((x) => `gh auth login --with-token <<< ${x}`),
  shell((x) => `realm join <<< ${x}`),
  shell((x) => `echo ${x} | docker login -u a --password-stdin r.example.com`),
  shell((x) => `echo ${x} | gh auth login --with-token`),
  shell((x) => `echo '${x}' | passwd --stdin ada`),
  shell((x) => `printf '%s' ${x} > /secrets/password`),
  shell((x) => `zip -P ${x} a.zip a`),
  shell((x) => `unzip -P ${x} a.zip`),
  shell((x) => `7z x -p${x} a.7z`),
  shell((x) => `npm config set //r.example.com/:_authToken ${x}`),
  shell((x) => `dotnet nuget push a.nupkg -k ${x}`),
  shell((x) => `mosquitto_passwd -b f ada ${x}`),
  shell((x) => `influx config create -t ${x} -u http://a`),
  shell((x) => `consul acl set-agent-token default ${x}`),
  shell((x) => `vault kv put secret/a value=${x}`),
  shell((x) => `vault operator unseal ${x}`),
  shell((x) => `etcdctl user add root:${x}`),
  shell((x) => `nmcli dev wifi connect s password ${x}`),
  shell((x) => `wpa_passphrase ssid ${x}`),
  shell((x) => `snmpwalk -v2c -c ${x} host`),
  shell((x) => `snmpget -v3 -u a -A ${x} host`),
  shell((x) => `xfreerdp /u:a /p:${x} /v:h`),
  shell((x) => `curl -su ada:${x} https://a.example.com`),
  shell((x) => `curl -E cert.pem:${x} https://a.example.com`),
]

export const NEARLY: readonly (readonly [location: string, value: Json])[] = [
  ['data["pam.d"]', 'password required pam_unix2.so\npassword include common-password2\n'],
  [
    'data["users.txt"]',
    'root:x:0:0:root:/root:/bin/bash\nnobody:*:65534:65534:nobody:/:/sbin/nologin\n',
  ],
  ['data.wifi', 'key_mgmt: WPA-PSK\nauth: PSK and EAP are both allowed\n'],
  [
    'data.image',
    'nginx:1.27@sha256:4c0fdaa8b6341bfdeca5f18f7837462c80cff90527ee35ef185571e1c327beac',
  ],
  ['data.path', 'acme/shop2@main'],
  ['data.digest', 'MD5: 0123456789abcdef0123456789abcdef'],
  ['data["cert.b64"]', 'MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJRTESMBAG'],
  [
    'data["app.js"]',
    "const apiKey = process.env.API_KEY || ''\nconst mode = process.env.MODE || 'dev2'\n",
  ],
  [
    'data["values.yaml"]',
    'password:\n  valueFrom: {secretKeyRef: {name: db2}}\ntokenUrl:\n  value: https://a.example.com\n',
  ],
  ['data["rules.yaml"]', 'passwordPolicy:\n  value: strong2\nreplicas:\n  value: "3"\n'],
  ['data["items.yaml"]', '- value: blue2\n  name: COLOR\n- name: DB_PASSWORD\n  valueFrom: {}\n'],
  [
    'data["items.json"]',
    '[{"name":"COLOR","value":"blue2"},{"name":"DB_PASSWORD","valueFrom":{}}]',
  ],
  [
    'data["lists.yaml"]',
    'imagePullSecrets:\n- regcred2\npassword:\n  secretKeyRef: db2\ntokenAudiences:\n- api2\n',
  ],
  [
    'data["page.html"]',
    '<h2 id="token">Token2</h2><input name="password"/>Password2 <entry key="password.file">/run/pw2</entry>',
  ],
  [
    'data["compose.yaml"]',
    'url: ${TOKEN_URL:-https://a.example.com}\nmode: ${PASSWORD:?missing2}\nuser: ${DB_PASSWORD:-}\n',
  ],
  ['spec.hmac', 'sha256'],
  ['spec.keytab', '/etc/krb5.keytab'],
  [`${CONTAINER}.args`, ['sh', '-c', 'docker run -u 1000 -p 8080:80 app2']],
  [`${CONTAINER}.args`, ['sh', '-c', 'psql -U app -p 5432 shop2']],
  [`${CONTAINER}.args`, ['sh', '-c', 'useradd -u 1000 ada && mkdir -p data1']],
  [`${CONTAINER}.args`, ['sh', '-c', 'podman login -u "$USER" -p "$PASSWORD" r.example.com']],
  [`${CONTAINER}.args`, ['sh', '-c', 'snmpwalk -v2c -c public host2']],
  [
    `${CONTAINER}.args`,
    ['sh', '-c', 'echo "$TOKEN2" | docker login --password-stdin -u a r.example.com'],
  ],
  [`${CONTAINER}.args`, ['sh', '-c', 'echo done2 > /tmp/state']],
  [`${CONTAINER}.args`, ['sh', '-c', 'curl -sSL https://a.example.com:8443/v2/x | tar -xz']],
  [`${CONTAINER}.args`, ['sh', '-c', 'vault kv get -field=password secret/a2']],
  [`${CONTAINER}.args`, ['sh', '-c', 'zip -r a2.zip a && unzip -o a2.zip']],
]
