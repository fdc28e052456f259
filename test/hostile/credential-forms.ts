/**
 * Forms in which secrets stand in objects: 46 that nobody may ever be shown, because the API says what they are, and 70 of daily use that
 * only their name or form gives away. Prefixes are fixed and bodies are drawn from a seed at run time, so that no text here looks like a secret.
 */
import { createHash } from 'node:crypto'
import type { JsonObject } from '@backporch/kyaml/json'

export interface CredentialForm {
  readonly name: string
  /** The object that has it, with a name and no namespace. */
  readonly object: JsonObject
  /** Where in the object; as a change at this path the value is judged too. */
  readonly location: string
  /** None of these may be seen. */
  readonly needles: readonly string[]
  /** Places for which the schema of the kind says `format: password`. */
  readonly passwords?: readonly string[]
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Draws texts; the same for the same seed. */
export class Draw {
  readonly #seed: string
  #count = 0

  constructor(seed: string) {
    this.#seed = seed
  }

  text(length: number, alphabet = ALPHABET): string {
    let drawn = ''
    while (drawn.length < length) {
      this.#count += 1
      for (const byte of createHash('sha512').update(`${this.#seed} ${this.#count}`).digest())
        drawn += alphabet.charAt(byte % alphabet.length)
    }
    return drawn.slice(0, length)
  }

  hex(length: number): string {
    return this.text(length, '0123456789abcdef')
  }

  /** As a person chooses one: letters with a digit here and there. */
  password(): string {
    return `${this.text(3, 'bcdfgh')}${this.text(2, '23456789')}${this.text(5, 'aeioukl')}${this.text(2, '23456789')}`
  }
}

export const base64 = (text: string): string => Buffer.from(text).toString('base64')

function pem(kind: string, draw: Draw): { text: string; body: string } {
  const body = `MII${draw.text(61)}`
  return {
    text: `-----BEGIN ${kind}-----\n${body}\n${draw.text(64)}\n${draw.text(38)}==\n-----END ${kind}-----\n`,
    body,
  }
}

function named(
  apiVersion: string,
  kind: string,
  rest: JsonObject,
  metadata: JsonObject = {},
): JsonObject {
  return { apiVersion, kind, metadata: { name: 'app', ...metadata }, ...rest }
}

export function configMap(data: JsonObject): JsonObject {
  return named('v1', 'ConfigMap', { data })
}

export function deployment(container: JsonObject): JsonObject {
  const containers = [{ name: 'app', image: 'example.com/app:1', ...container }]
  return named('apps/v1', 'Deployment', {
    spec: {
      selector: { matchLabels: { app: 'app' } },
      template: { metadata: { labels: { app: 'app' } }, spec: { containers } },
    },
  })
}

export const CONTAINER = 'spec.template.spec.containers[name=app]'

/** 46 forms: what the API itself says is secret, and our own credentials' forms. */
export function mustHideForms(seed: string): readonly CredentialForm[] {
  const draw = new Draw(`must ${seed}`)
  const forms: CredentialForm[] = []
  const add = (
    name: string,
    location: string,
    needle: string,
    object: JsonObject,
    passwords?: readonly string[],
  ): void => {
    forms.push({
      name,
      location,
      needles: [needle],
      object,
      ...(passwords === undefined ? {} : { passwords }),
    })
  }
  const secret = (rest: JsonObject, metadata: JsonObject = {}): JsonObject =>
    named('v1', 'Secret', rest, metadata)
  for (const type of ['Opaque', 'kubernetes.io/basic-auth']) {
    const body = draw.password()
    add(
      `data of a Secret of type ${type}`,
      'data.color',
      base64(body),
      secret({ type, data: { username: '', color: base64(body) } }),
    )
  }
  {
    const body = draw.password()
    add('stringData of a Secret', 'stringData.color', body, secret({ stringData: { color: body } }))
    const docker = base64(
      JSON.stringify({
        auths: { 'registry.example.com': { auth: base64(`u:${draw.password()}`) } },
      }),
    )
    add(
      '.dockerconfigjson of a Secret',
      'data[".dockerconfigjson"]',
      docker,
      secret({ data: { '.dockerconfigjson': docker } }),
    )
    const key = base64(pem('PRIVATE KEY', draw).text)
    add(
      'tls.key of a Secret',
      'data["tls.key"]',
      key,
      secret({ type: 'kubernetes.io/tls', data: { 'tls.crt': '', 'tls.key': key } }),
    )
    const bad = `not base64 !${draw.text(12)}`
    add('data of a Secret that is no base64', 'data.color', bad, secret({ data: { color: bad } }))
    const release = base64(base64(draw.text(60)))
    add(
      'a Helm release Secret',
      'data.release',
      release,
      secret({ type: 'helm.sh/release.v1', data: { release } }),
    )
    const bootstrap = draw.text(16, 'abcdef0123456789')
    add(
      'token-secret of a bootstrap token',
      'data["token-secret"]',
      base64(bootstrap),
      secret({
        type: 'bootstrap.kubernetes.io/token',
        data: { 'token-secret': base64(bootstrap) },
      }),
    )
    const unknown = draw.password()
    add(
      'a field of a Secret that nobody knows',
      'content.color',
      unknown,
      secret({ content: { color: unknown } }),
    )
  }
  const tools = [
    'kubectl.kubernetes.io/last-applied-configuration',
    'kapp.k14s.io/original',
    'kopf.zalando.org/last-handled-configuration',
    'objectset.rio.cattle.io/applied',
    'example.com/a-copy-that-nobody-knows',
  ]
  for (const tool of tools) {
    const body = draw.password()
    // What nobody knows has no form that would tell it.
    const copy = tool.startsWith('example.com/')
      ? base64(body)
      : JSON.stringify({ kind: 'Secret', data: { color: base64(body) } })
    const object = secret({ data: {} }, { annotations: { [tool]: copy } })
    add(`a Secret's annotation ${tool}`, `metadata.annotations["${tool}"]`, base64(body), object)
  }
  for (const tool of tools.slice(0, 4)) {
    const body = draw.password()
    const copy = JSON.stringify({ data: { color: body } })
    const object = { ...deployment({}), metadata: { name: 'app', annotations: { [tool]: copy } } }
    add(`a Deployment's annotation ${tool}`, `metadata.annotations["${tool}"]`, body, object)
  }
  const embedded: readonly (readonly [
    name: string,
    apiVersion: string,
    kind: string,
    above: readonly string[],
  ])[] = [
    ['a Secret template in a custom resource', 'example.com/v1', 'App', ['spec', 'template']],
    [
      'a Secret template of a ClusterResourceSet',
      'addons.cluster.x-k8s.io/v1beta1',
      'ClusterResourceSet',
      ['spec', 'resource'],
    ],
    [
      'a Secret in a Crossplane Object',
      'kubernetes.crossplane.io/v1alpha2',
      'Object',
      ['spec', 'forProvider', 'manifest'],
    ],
  ]
  for (const [name, apiVersion, kind, above] of embedded) {
    for (const field of ['data', 'stringData']) {
      const body = draw.password()
      const inner: JsonObject = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'x' },
        [field]: { color: body },
      }
      const [top, rest] = nested([...above], inner)
      add(
        `${name}, its ${field} as a whole`,
        `${above.join('.')}.${field}`,
        body,
        named(apiVersion, kind, { [top]: rest }),
      )
      const other = draw.password()
      const [top2, rest2] = nested([...above], { ...inner, [field]: { color: other } })
      if (field === 'data' || kind === 'App') {
        add(
          `${name}, a leaf of its ${field}`,
          `${above.join('.')}.${field}.color`,
          other,
          named(apiVersion, kind, { [top2]: rest2 }),
        )
      }
    }
  }
  const templates: readonly (readonly [
    apiVersion: string,
    kind: string,
    above: readonly string[],
  ])[] = [
    ['bitnami.com/v1alpha1', 'SealedSecret', ['spec', 'template']],
    ['external-secrets.io/v1', 'ExternalSecret', ['spec', 'target', 'template']],
    ['external-secrets.io/v1alpha1', 'PushSecret', ['spec', 'template']],
  ]
  for (const [apiVersion, kind, above] of templates) {
    const body = draw.password()
    const [top, rest] = nested(above, { data: { color: body } })
    add(
      `what a ${kind} makes a Secret of`,
      `${above.join('.')}.data.color`,
      body,
      named(apiVersion, kind, { [top]: rest }),
    )
  }
  {
    const body = draw.password()
    const items = [
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, stringData: { color: body } },
    ]
    add(
      'a Secret in a list of templates',
      'spec.templates[0].stringData.color',
      body,
      named('example.com/v1', 'App', { spec: { templates: items } }),
    )
    const literal = draw.password()
    const text = `apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\nstringData:\n  color: ${literal}\n`
    add(
      'a Secret manifest as text in a ConfigMap',
      'data["secret.yaml"]',
      literal,
      configMap({ 'secret.yaml': text }),
    )
    const json = draw.password()
    const inJson = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Secret',
      data: { color: base64(json) },
    })
    add(
      'a Secret manifest as JSON text',
      'spec.manifest',
      base64(json),
      named('example.com/v1', 'App', { spec: { manifest: inJson } }),
    )
    const kube = base64(pem('RSA PRIVATE KEY', draw).text)
    const kubeconfig = `apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user:\n    client-key-data: ${kube}\n`
    add(
      'a kubeconfig with a key in a ConfigMap',
      'data.kubeconfig',
      kube,
      configMap({ kubeconfig }),
    )
    const token = draw.text(40)
    const config = `apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user: {token: ${token}}\n`
    add('a kubeconfig with a token in a ConfigMap', 'data.config', token, configMap({ config }))
    const one = draw.password()
    add(
      'a field that its schema calls a password',
      'spec.color',
      one,
      named('example.com/v1', 'App', { spec: { color: one } }),
      ['spec.color'],
    )
    const two = draw.password()
    const users = [{ name: 'ada', color: two }]
    add(
      'one of a list that its schema calls a password',
      'spec.users[name=ada].color',
      two,
      named('example.com/v1', 'App', { spec: { users } }),
      ['spec.users[name=ada].color'],
    )
    const env = draw.password()
    const variables = [{ name: 'DB_PASSWORD', value: env }]
    add(
      'an environment variable with the name of a secret',
      `${CONTAINER}.env[name=DB_PASSWORD].value`,
      env,
      deployment({ env: variables }),
    )
  }
  const own: readonly (readonly [name: string, value: string, needle: string])[] = (() => {
    const [forge, bearer, basic, address] = [
      draw.text(36),
      draw.text(40),
      draw.password(),
      draw.password(),
    ]
    const [key, webhook, jwt] = [pem('OPENSSH PRIVATE KEY', draw), draw.text(32), draw.text(60)]
    return [
      ["a forge's token", `ghp_${forge}`, forge],
      ['a header with a bearer token', `Authorization: Bearer ${bearer}`, bearer],
      [
        'a header of basic authentication',
        `Authorization: Basic ${base64(`ada:${basic}`)}`,
        base64(`ada:${basic}`),
      ],
      [
        'a password in a remote address',
        `https://ada:${address}@git.example.com/shop.git`,
        address,
      ],
      ['a signing key', key.text, key.body],
      ["a webhook's secret", `webhook-secret=${webhook}`, webhook],
      ['a token of a service account', `eyJ${draw.text(30)}.eyJ${jwt}.${draw.text(40)}`, jwt],
    ] as const
  })()
  for (const [name, value, needle] of own)
    add(`${name} in a ConfigMap`, 'data.color', needle, configMap({ color: value }))
  return forms
}

/** The inner map below a way of fields. */
function nested(way: readonly string[], inner: JsonObject): readonly [string, JsonObject] {
  const [top = '', ...rest] = way
  return [top, rest.toReversed().reduce<JsonObject>((below, name) => ({ [name]: below }), inner)]
}

/** 70 forms of daily use, in kinds that are no Secret. */
export function formsInUse(seed: string): readonly CredentialForm[] {
  const draw = new Draw(`use ${seed}`)
  const forms: CredentialForm[] = []
  const env = (name: string, value: string): void => {
    const location = `${CONTAINER}.env[name=${name}].value`
    forms.push({
      name: `variable ${name}`,
      location,
      needles: [value],
      object: deployment({ env: [{ name, value }] }),
    })
  }
  /** A value of a ConfigMap under a name that says nothing. */
  const text = (name: string, value: string, ...needles: string[]): void => {
    forms.push({ name, location: 'data.color', needles, object: configMap({ color: value }) })
  }
  const args = (name: string, list: readonly string[], needle: string): void => {
    forms.push({
      name,
      location: `${CONTAINER}.args`,
      needles: [needle],
      object: deployment({ args: [...list] }),
    })
  }
  env('ENCRYPTION_KEY', draw.text(32))
  env('DBPASS', draw.password())
  env('DD_API_KEY', draw.hex(32))
  env('SECRET_KEY_BASE', draw.hex(64))
  env('STRIPE_KEY', draw.text(28))
  env('TWILIO_AUTH', draw.hex(32))
  env('SMTP_PW', draw.password())
  env('AUTH_SALT', draw.text(12))
  env('REDIS_PASSWORD', `/${draw.password()}`)
  env('MYSQL_ROOT_PASSWORD', `$${draw.password()}`)
  env('ADMIN_PASS', `%${draw.password()}`)
  env('CONNECTION_STRING', `Server=db;Uid=app;Pwd=*${draw.password()};`)
  {
    const body = draw.text(86)
    text(
      'an Azure storage account',
      `DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=${body}==;EndpointSuffix=core.windows.net`,
      body,
    )
  }
  {
    const body = draw.text(43)
    text(
      'an Azure SAS',
      `https://shop.blob.core.windows.net/a?sv=2024-01-01&sp=r&sig=${body}%3D`,
      body,
    )
  }
  {
    const body = draw.text(43)
    text(
      'an Azure Service Bus',
      `Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=${body}=`,
      body,
    )
  }
  {
    const body = draw.text(24)
    text(
      'a Slack webhook',
      `https://hooks.slack.com/services/T${draw.text(8, 'ABC123')}/B${draw.text(8, 'ABC123')}/${body}`,
      body,
    )
  }
  {
    const body = draw.text(68)
    text(
      'a Discord webhook',
      `https://discord.com/api/webhooks/${draw.text(18, '123456789')}/${body}`,
      body,
    )
  }
  {
    const body = draw.hex(32)
    text(
      'a Teams webhook',
      `https://shop.webhook.office.com/webhookb2/${draw.hex(8)}-1a2b@${draw.hex(8)}/IncomingWebhook/${body}`,
      body,
    )
  }
  const tokens: readonly (readonly [name: string, prefix: string, length: number])[] = [
    ['an OpenAI key', 'sk-', 48],
    ['an OpenAI project key', 'sk-proj-', 90],
    ['a Slack bot token', 'xoxb-123456789012-', 24],
    ['a fine-grained GitHub token', 'github_pat_', 59],
    ['a PyPI token', 'pypi-', 85],
    ['an npm token', 'npm_', 36],
    ['a Stripe key', 'sk_live_', 24],
    ['a Stripe webhook secret', 'whsec_', 32],
    ['a Google API key', 'AIza', 35],
    ['a Vault token', 'hvs.', 95],
    ['a DigitalOcean token', 'dop_v1_', 64],
    ['a Grafana token', 'glc_', 40],
    ['a Hugging Face token', 'hf_', 34],
  ]
  for (const [name, prefix, length] of tokens) {
    const body = draw.text(length)
    text(name, `${prefix}${body}`, body)
  }
  {
    const [one, two] = [draw.text(22), draw.text(43)]
    text('a SendGrid key', `SG.${one}.${two}`, two)
    const twilio = draw.hex(32)
    text('a Twilio key', `SK${twilio}`, twilio)
    const telegram = draw.text(33)
    text('a Telegram bot token', `${draw.text(10, '123456789')}:AA${telegram}`, telegram)
    const [id, key] = [draw.text(16, 'ABCDEFGHIJKLMNOP234567'), draw.text(40)]
    text(
      'an AWS credentials file',
      `[default]\naws_access_key_id = AKIA${id}\naws_secret_access_key = ${key}\n`,
      id,
      key,
    )
    const google = pem('PRIVATE KEY', draw)
    text(
      'a Google service account',
      JSON.stringify({
        type: 'service_account',
        private_key_id: draw.hex(40),
        private_key: google.text,
      }),
      google.body,
    )
    const jwt = draw.text(60)
    text('a JWT', `eyJ${draw.text(30)}.eyJ${jwt}.${draw.text(40)}`, jwt)
  }
  const addresses: readonly (readonly [name: string, make: (password: string) => string])[] = [
    ['a MongoDB address', (password) => `mongodb+srv://app:${password}@cluster0.example.net/shop`],
    ['an AMQP address', (password) => `amqps://app:${password}@mq.example.com/v`],
    ['a Redis address without a user', (password) => `redis://:${password}@cache:6379/0`],
    [
      "a MySQL address of Go's driver",
      (password) => `app:${password}@tcp(db:3306)/shop?parseTime=true`,
    ],
    [
      'a JDBC address',
      (password) =>
        `jdbc:sqlserver://db:1433;databaseName=shop;user=app;password=${password};encrypt=true`,
    ],
    [
      'a JDBC address with a query',
      (password) => `jdbc:postgresql://db/shop?user=app&password=${password}&ssl=true`,
    ],
    [
      'a libpq string',
      (password) => `host=db user=app dbname=shop password=${password} sslmode=require`,
    ],
    [
      'the address of Sentry',
      (password) =>
        `https://${base64(password).slice(0, 3)}${draw.hex(29)}${password}@o1.ingest.example.com/2`,
    ],
  ]
  for (const [name, make] of addresses) {
    const password = draw.password()
    text(name, make(password), password)
  }
  const files: readonly (readonly [name: string, make: (password: string) => string])[] = [
    [
      'XML',
      (password) => `<config><db><user>app</user><password>${password}</password></db></config>`,
    ],
    [
      'XML with attributes',
      (password) => `<bean><property name="password" value="${password}"/></bean>`,
    ],
    ['netrc', (password) => `machine git.example.com login ada password ${password}\n`],
    ['pgpass', (password) => `db.example.com:5432:shop:app:${password}\n`],
    [
      'escaped JSON',
      (password) => JSON.stringify({ body: JSON.stringify({ user: 'app', password }) }),
    ],
    ['a block scalar', (password) => `db:\n  password: |\n    ${password}\n`],
    ['an ini file', (password) => `[db]\nuser = app\npassword = ${password}\n`],
    ['TOML', (password) => `[db]\nuser = "app"\npassword = "${password}"\n`],
    ['shell exports', (password) => `export PGUSER=app\nexport PGPASSWORD='${password}'\n`],
    ['redis.conf', (password) => `port 6379\nrequirepass ${password}\n`],
    ['a PHP array', (password) => `<?php return ['user' => 'app', 'password' => '${password}'];`],
    [
      "Helm values with a variable's list",
      (password) => `env:\n  - name: DB_PASSWORD\n    value: ${password}\n`,
    ],
    ['npmrc', (password) => `//registry.example.com/:_authToken=${password}\n`],
    ['a URL-encoded form', (password) => encodeURIComponent(`user=app&password=${password}`)],
    [
      'nested YAML',
      (password) => `users:\n  ada:\n    passphrase: "${password}"\n    role: admin\n`,
    ],
  ]
  for (const [name, make] of files) {
    const password = draw.password()
    text(name, make(password), password)
  }
  {
    const key = pem('PGP PRIVATE KEY BLOCK', draw)
    text('a PGP block', key.text, key.body)
    const ec = base64(pem('EC PRIVATE KEY', draw).text)
    text('base64 of a private key', ec, ec)
    const inner = base64(`db:\n  password: ${draw.password()}\n`)
    text('base64 of a file', inner, inner)
    const hash = draw.text(53)
    text('htpasswd', `ada:$2y$10$${hash}\n`, hash)
    const auth = base64(`ada:${draw.password()}`)
    text('docker config', JSON.stringify({ auths: { 'registry.example.com': { auth } } }), auth)
  }
  {
    const key = `${draw.text(43)}=`
    text('a WireGuard configuration', `[Interface]\nPrivateKey = ${key}\nListenPort = 51820\n`, key)
    const [one, two, three, four] = [
      draw.password(),
      draw.password(),
      draw.password(),
      draw.password(),
    ]
    args('an argument -password x', ['server', '-user', 'app', '-password', one], one)
    args('an argument --requirepass x', ['redis-server', '--requirepass', two], two)
    args('mysql -px', ['sh', '-c', `mysqladmin ping -h db -uroot -p${three}`], three)
    args('curl -u a:b', ['sh', '-c', `curl -s -u ada:${four} https://example.com/health`], four)
  }
  return forms
}
