/**
 * 80 forms of credentials that neither list of credential-forms.ts has, collected from documentation of vendors before anybody looked at the
 * rules. 50 were measured as the rules were (21 were told), and the rules mended; then 30 more (13 were told; 17 by the rules before), and mended
 * again. Bodies are drawn, as there.
 */
import type { JsonObject } from '@backporch/kyaml/json'
import {
  base64,
  CONTAINER,
  type CredentialForm,
  configMap,
  Draw,
  deployment,
} from './credential-forms.ts'

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const BECH32 = 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L'
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Tokens: what documents them, and one as its issuer makes it with the body that is the secret. */
type Token = readonly [
  name: string,
  make: (draw: Draw) => readonly [text: string, ...needles: string[]],
]

type File = readonly [
  name: string,
  make: (password: string, draw: Draw) => string | readonly [text: string, needle: string],
]
type Variable = readonly [name: string, make: (draw: Draw) => string]
type Arguments = readonly [name: string, make: (password: string) => readonly string[]]

interface Lists {
  readonly tokens: readonly Token[]
  readonly files: readonly File[]
  readonly variables: readonly Variable[]
  readonly args: readonly Arguments[]
}

const TOKENS: readonly Token[] = [
  [
    'a Cloudflare API token (developers.cloudflare.com: token formats)',
    (draw) => prefixed('cfut_', draw.text(48)),
  ],
  [
    'a Cloudflare tunnel token (developers.cloudflare.com: TUNNEL_TOKEN)',
    (draw) => {
      const body = base64(
        JSON.stringify({ a: draw.hex(32), t: draw.hex(36), s: base64(draw.text(32)) }),
      )
      return [body, body.slice(20)]
    },
  ],
  [
    'a Tailscale auth key (tailscale.com: key prefixes)',
    (draw) => {
      const body = draw.text(32)
      return [`tskey-auth-${draw.text(11)}CNTRL-${body}`, body]
    },
  ],
  [
    'an age identity (age-keygen(1))',
    (draw) => prefixed('AGE-SECRET-KEY-1', draw.text(58, BECH32)),
  ],
  [
    'a GitLab runner token (docs.gitlab.com: token prefixes)',
    (draw) => prefixed('glrt-', draw.text(20)),
  ],
  [
    'a GitLab deploy token (docs.gitlab.com: token prefixes)',
    (draw) => prefixed('gldt-', draw.text(20)),
  ],
  [
    'a Docker Hub token (docs.docker.com: access tokens)',
    (draw) => prefixed('dckr_pat_', draw.text(27)),
  ],
  [
    'a Grafana service account token (grafana.com: service accounts)',
    (draw) => {
      const body = draw.text(32)
      return [`glsa_${body}_${draw.hex(8)}`, body]
    },
  ],
  ['a Databricks token (docs.databricks.com: PAT)', (draw) => prefixed('dapi', draw.hex(32))],
  [
    'a Sentry organization token (docs.sentry.io: auth tokens)',
    (draw) => {
      const body = draw.text(43)
      return [
        `sntrys_${base64(JSON.stringify({ iat: 1747812640, url: 'https://sentry.example.com', org: 'shop' }))}_${body}`,
        body,
      ]
    },
  ],
  [
    'a Terraform Cloud token (developer.hashicorp.com: API tokens)',
    (draw) => {
      const body = draw.text(67)
      return [`${draw.text(14)}.atlasv1.${body}`, body]
    },
  ],
  [
    'an Atlassian API token (support.atlassian.com)',
    (draw) => prefixed('ATATT3xFfGF0', draw.text(172)),
  ],
  ['a Doppler service token (docs.doppler.com)', (draw) => prefixed('dp.st.prd.', draw.text(43))],
  ['a Linear API key (linear.app/developers)', (draw) => prefixed('lin_api_', draw.text(40))],
  ['a PlanetScale token (planetscale.com/docs)', (draw) => prefixed('pscale_tkn_', draw.text(43))],
  [
    'a client secret of Entra (learn.microsoft.com)',
    (draw) => {
      const body = draw.text(33)
      return [`${draw.text(3)}8Q~${body}`, body]
    },
  ],
  [
    'a k3s server token (docs.k3s.io: k3s token)',
    (draw) => {
      const body = draw.hex(32)
      return [`K10${draw.hex(64)}::server:${body}`, body]
    },
  ],
  [
    'a bootstrap token (kubernetes.io: kubeadm token)',
    (draw) => {
      const body = draw.text(16, 'abcdefghijklmnopqrstuvwxyz0123456789')
      return [`${draw.text(6, 'abcdefghijklmnopqrstuvwxyz0123456789')}.${body}`, body]
    },
  ],
  [
    'an otpauth address (Google Authenticator: key URI format)',
    (draw) => {
      const body = draw.text(32, BASE32)
      return [`otpauth://totp/Shop:ada@example.com?secret=${body}&issuer=Shop`, body]
    },
  ],
  [
    "an address of Oracle's thin driver (docs.oracle.com: JDBC)",
    (draw) => {
      const body = draw.password()
      return [`jdbc:oracle:thin:app/${body}@//db.example.com:1521/shop`, body]
    },
  ],
]

/** Files: what documents the format, and one with a password in it. */
const FILES: readonly File[] = [
  [
    'an ACL file of Redis (redis.io: ACL)',
    (password) => `user default off\nuser app on >${password} ~shop:* +@all\n`,
  ],
  [
    'a JAAS configuration of Kafka (kafka.apache.org: SASL)',
    (password) =>
      `sasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="app" password="${password}";\n`,
  ],
  [
    'a userlist of HAProxy (haproxy.com: userlist)',
    (password) => `userlist people\n  user ada insecure-password ${password}\n`,
  ],
  [
    'the statistics page of HAProxy (haproxy.com: stats auth)',
    (password) => `listen stats\n  bind *:8404\n  stats auth admin:${password}\n`,
  ],
  [
    'SQL of MySQL (dev.mysql.com: CREATE USER)',
    (password) =>
      `CREATE USER 'app'@'%' IDENTIFIED BY '${password}';\nGRANT ALL ON shop.* TO 'app'@'%';\n`,
  ],
  [
    'SQL of PostgreSQL (postgresql.org: CREATE ROLE)',
    (password) => `CREATE ROLE app LOGIN PASSWORD '${password}';\n`,
  ],
  ['userlist.txt of PgBouncer (pgbouncer.org: auth_file)', (password) => `"app" "${password}"\n`],
  [
    'sasl_passwd of Postfix (postfix.org: SASL_README)',
    (password) => `[smtp.example.com]:587 app@example.com:${password}\n`,
  ],
  [
    'wsrep_sst_auth of Galera (mariadb.com)',
    (password) => `[mariadb]\nwsrep_sst_method = mariabackup\nwsrep_sst_auth = sst:${password}\n`,
  ],
  [
    'core-site.xml of Hadoop (docs.cloudera.com: S3)',
    (password) =>
      `<configuration><property>\n<name>fs.s3a.secret.key</name>\n<value>${password}</value>\n</property></configuration>\n`,
  ],
  [
    'a TSIG key of BIND (bind9.readthedocs.io: key)',
    (_, draw) => {
      const key = draw.text(43)
      return [`key "transfer" {\n  algorithm hmac-sha256;\n  secret "${key}=";\n};\n`, key]
    },
  ],
  [
    'chpasswd of cloud-init (cloudinit.readthedocs.io)',
    (password) => `#cloud-config\nchpasswd:\n  expire: false\n  list: |\n    root:${password}\n`,
  ],
  [
    'a private JSON Web Key (RFC 7517)',
    (_, draw) => {
      const d = draw.text(43)
      return [JSON.stringify({ kty: 'EC', crv: 'P-256', x: draw.text(43), y: draw.text(43), d }), d]
    },
  ],
  [
    'a header that nginx adds (nginx.org: proxy_set_header)',
    (password) => {
      const basic = base64(`ada:${password}`)
      return [`proxy_set_header Authorization "Basic ${basic}";\n`, basic]
    },
  ],
  [
    'LDIF with a password (openldap.org: olcRootPW)',
    (password) => `dn: cn=config\nolcRootDN: cn=admin,dc=example,dc=com\nolcRootPW: ${password}\n`,
  ],
  [
    'salts of WordPress (developer.wordpress.org: wp-config.php)',
    (_, draw) => {
      const half = draw.text(33)
      return [`define( 'NONCE_SALT', '${draw.text(30)} ${half}' );\n`, half]
    },
  ],
  [
    'an Ansible inventory (docs.ansible.com)',
    (password) => `[db]\ndb1.example.com ansible_user=ada ansible_become_pass=${password}\n`,
  ],
  [
    'the gossip key of Consul (developer.hashicorp.com: encrypt)',
    (_, draw) => {
      const key = draw.text(43)
      return [JSON.stringify({ datacenter: 'east', encrypt: `${key}=` }), key]
    },
  ],
]

const VARIABLES: readonly Variable[] = [
  ['RABBITMQ_ERLANG_COOKIE', (draw) => draw.text(20, UPPER)],
  ['RAILS_MASTER_KEY', (draw) => draw.hex(32)],
  ['APP_KEY', (draw) => `base64:${draw.text(43)}=`],
  [
    'MNEMONIC',
    (draw) => Array.from({ length: 12 }, () => draw.text(6, 'abcdefghijklmnop')).join(' '),
  ],
]

const ARGUMENTS: readonly Arguments[] = [
  [
    'redis-cli -a (redis.io: redis-cli)',
    (password) => ['sh', '-c', `redis-cli -h cache -a ${password} ping`],
  ],
  [
    'mc alias set (min.io: mc alias set)',
    (password) => ['sh', '-c', `mc alias set shop https://s3.example.com shopkey ${password}`],
  ],
  [
    'sshpass -p (sshpass(1))',
    (password) => ['sshpass', '-p', password, 'ssh', 'ada@host.example.com'],
  ],
  [
    'openssl -passin pass: (openssl-passphrase-options(1))',
    (password) => ['sh', '-c', `openssl rsa -in key.pem -passin pass:${password} -out new.pem`],
  ],
  [
    'ldapsearch -w (ldapsearch(1))',
    (password) => [
      'sh',
      '-c',
      `ldapsearch -x -D cn=admin,dc=example,dc=com -w ${password} -b dc=example,dc=com`,
    ],
  ],
  [
    '-Djavax.net.ssl.keyStorePassword (docs.oracle.com: JSSE)',
    (password) => ['java', `-Djavax.net.ssl.keyStorePassword=${password}`, '-jar', 'app.jar'],
  ],
  [
    'erl -setcookie (erlang.org: erl)',
    (password) => ['erl', '-name', 'a@b.example.com', '-setcookie', password],
  ],
  [
    'smbclient -U (smbclient(1))',
    (password) => ['sh', '-c', `smbclient //files.example.com/shop -U app%${password} -c ls`],
  ],
]

const FIRST: Lists = { tokens: TOKENS, files: FILES, variables: VARIABLES, args: ARGUMENTS }

/** Written down with the first, and measured when those had been mended: what mended classes do for forms that nobody mended. */
const SECOND: Lists = {
  tokens: [
    ['a Fly.io token (fly.io: access tokens)', (draw) => prefixed('FlyV1 fm2_', draw.text(120))],
    ['a Notion token (developers.notion.com)', (draw) => prefixed('ntn_', draw.text(46))],
    [
      'a license key of New Relic (docs.newrelic.com)',
      (draw) => {
        const body = draw.hex(32)
        return [`${body}FFFFNRAL`, body]
      },
    ],
    ['a Shopify token (shopify.dev)', (draw) => prefixed('shpat_', draw.hex(32))],
    [
      'a secret token of Mapbox (docs.mapbox.com)',
      (draw) => {
        const body = draw.text(22)
        return [`sk.${base64(JSON.stringify({ u: 'shop', a: draw.hex(12) }))}.${body}`, body]
      },
    ],
    ['a Pulumi token (pulumi.com)', (draw) => prefixed('pul-', draw.hex(40))],
  ],
  files: [
    [
      'a parent of Squid (squid-cache.org: cache_peer)',
      (password) => `cache_peer proxy.example.com parent 3128 0 no-query login=app:${password}\n`,
    ],
    [
      'a static key of OpenVPN (openvpn.net)',
      (_, draw) => {
        const key = draw.hex(32)
        return [
          `-----BEGIN OpenVPN Static key V1-----\n${key}\n${draw.hex(32)}\n-----END OpenVPN Static key V1-----\n`,
          key,
        ]
      },
    ],
    [
      'a user of MongoDB (mongodb.com: db.createUser)',
      (password) => `db.createUser({user: "app", pwd: "${password}", roles: ["readWrite"]})\n`,
    ],
    [
      'a role of Cassandra (cassandra.apache.org: CQL)',
      (password) => `CREATE ROLE app WITH PASSWORD = '${password}' AND LOGIN = true;\n`,
    ],
    [
      'a login of SQL Server (learn.microsoft.com: CREATE LOGIN)',
      (password) => `CREATE LOGIN app WITH PASSWORD = N'${password}';\n`,
    ],
    ['ipsec.secrets (strongswan.org)', (password) => `vpn.example.com : PSK "${password}"\n`],
    [
      'wpa_supplicant.conf (w1.fi)',
      (password) => `network={\n  ssid="shop"\n  psk="${password}"\n}\n`,
    ],
    [
      'chap-secrets (pppd(8))',
      (password) => `# client server secret addresses\nada * ${password} *\n`,
    ],
    [
      'clients.conf of FreeRADIUS (freeradius.org)',
      (password) => `client shop {\n  ipaddr = 192.0.2.0/24\n  secret = ${password}\n}\n`,
    ],
    ['a user of SNMP (snmpd.conf(5))', (password) => `createUser ada SHA "${password}" AES\n`],
    [
      'a TSIG key of NSD (nlnetlabs.nl: nsd.conf)',
      (_, draw) => {
        const key = draw.text(43)
        return [`key:\n  name: "transfer"\n  algorithm: hmac-sha256\n  secret: "${key}="\n`, key]
      },
    ],
    [
      'fstab with a share (mount.cifs(8))',
      (password) => `//files.example.com/shop /mnt cifs username=app,password=${password} 0 0\n`,
    ],
    [
      'server.xml of Tomcat (tomcat.apache.org: SSL)',
      (password) =>
        `<Connector port="8443" keystoreFile="/conf/shop.jks" keystorePass="${password}"/>\n`,
    ],
    [
      'NuGet.Config (learn.microsoft.com: nuget.config)',
      (password) =>
        `<add key="Username" value="ada" />\n<add key="ClearTextPassword" value="${password}" />\n`,
    ],
    [
      'a header of git (git-config(1): http.extraHeader)',
      (password) => {
        const basic = base64(`ada:${password}`)
        return [
          `[http "https://git.example.com/"]\n\textraheader = AUTHORIZATION: basic ${basic}\n`,
          basic,
        ]
      },
    ],
  ],
  variables: [
    ['SNMP_COMMUNITY', (draw) => draw.password()],
    ['PASSWORD_PEPPER', (draw) => draw.text(24)],
    ['VAULT_UNSEAL_KEY_1', (draw) => `${draw.text(43)}=`],
  ],
  args: [
    [
      'rabbitmqctl add_user (rabbitmq.com)',
      (password) => ['sh', '-c', `rabbitmqctl add_user app ${password}`],
    ],
    [
      'htpasswd -b (httpd.apache.org: htpasswd)',
      (password) => ['sh', '-c', `htpasswd -bc /auth/users ada ${password}`],
    ],
    [
      'curl with a token of Vault (developer.hashicorp.com: HTTP API)',
      (password) => [
        'sh',
        '-c',
        `curl -s -H 'X-Vault-Token: ${password}' https://vault.example.com/v1/a`,
      ],
    ],
    [
      'sqlcmd -P (learn.microsoft.com: sqlcmd)',
      (password) => ['/opt/mssql-tools/bin/sqlcmd', '-S', 'db', '-U', 'sa', '-P', password],
    ],
    [
      'etcdctl --user (etcd.io)',
      (password) => ['etcdctl', '--user', `root:${password}`, 'get', 'a'],
    ],
    [
      'lftp -u (lftp(1))',
      (password) => ['sh', '-c', `lftp -u app,${password} -e mirror ftp.example.com`],
    ],
  ],
}

/** The 50 forms, drawn from a seed. */
export function heldOutForms(seed: string): readonly CredentialForm[] {
  return formsOf(FIRST, new Draw(`held out ${seed}`))
}

/** The 30 forms that were measured later. */
export function laterForms(seed: string): readonly CredentialForm[] {
  return formsOf(SECOND, new Draw(`later ${seed}`))
}

function formsOf({ tokens, files, variables, args }: Lists, draw: Draw): readonly CredentialForm[] {
  const text = (name: string, value: string, needles: readonly string[]): CredentialForm => {
    return { name, location: 'data.color', needles, object: configMap({ color: value }) }
  }
  return [
    ...tokens.map(([name, make]) => {
      const [value, ...needles] = make(draw)
      return text(name, value, needles)
    }),
    ...files.map(([name, make]) => {
      const password = draw.password()
      const created = make(password, draw)
      return typeof created === 'string'
        ? text(name, created, [password])
        : text(name, created[0], [created[1]])
    }),
    ...variables.map(([name, make]) => {
      const value = make(draw)
      return {
        name: `variable ${name}`,
        location: `${CONTAINER}.env[name=${name}].value`,
        needles: [value],
        object: env(name, value),
      }
    }),
    ...args.map(([name, make]) => {
      const password = draw.password()
      return {
        name,
        location: `${CONTAINER}.args`,
        needles: [password],
        object: deployment({ args: [...make(password)] }),
      }
    }),
  ]
}

function prefixed(prefix: string, body: string): readonly [string, string] {
  return [`${prefix}${body}`, body]
}

function env(name: string, value: string): JsonObject {
  return deployment({ env: [{ name, value }] })
}
