/** Forms in which a name and its value stand together: whichever of them it is, one rule judges the two. */
import type { Json } from '@backporch/kyaml/json'
import { base64, CONTAINER } from './credential-forms.ts'

export const TELLING_NAMES: readonly string[] = [
  ...[
    'password',
    'DB_PASSWORD',
    'dbPassword',
    'db-password',
    'DBPASS',
    'passphrase',
    'bindpw',
    'authtok',
    'clientSecret',
    'secretKey',
  ],
  ...[
    'SECRET_ACCESS_KEY',
    'API_KEY',
    'api-key',
    'apiKey',
    'X-Api-Key',
    'X-Auth-Token',
    'token',
    'accessToken',
    'sasToken',
  ],
  ...['ENCRYPTION_KEY', 'privateKey', 'licenseKey', 'connectionString', 'snmpCommunity'],
]

export type NameForm = (name: string, x: string) => readonly [location: string, value: Json]

const text =
  (value: (name: string, x: string) => string): NameForm =>
  (name, x) => ['data.file', value(name, x)]
const args =
  (...words: readonly ((name: string, x: string) => string)[]): NameForm =>
  (name, x) => [`${CONTAINER}.args`, words.map((word) => word(name, x))]
const own = (_: string, x: string): string => x

export const NAME_FORMS: Readonly<Record<string, NameForm>> = {
  'a key of a map': (name, x) => [`data["${name}"]`, x],
  'a field': (name, x) => [`spec["${name}"]`, x],
  'a field of a map that is added': (name, x) => ['spec.a', { b: { [name]: x } }],
  'a value below a field': (name, x) => [`spec["${name}"].value`, x],
  'an annotation': (name, x) => [`metadata.annotations["example.com/${name}"]`, x],
  'a variable': (name, x) => [`${CONTAINER}.env[name="${name}"].value`, x],
  'a variable that is added': (name, x) => [`${CONTAINER}.env`, [{ name, value: x }]],
  'an item with key and value': (name, x) => ['spec.list', [{ key: name, value: x }]],
  'an item with header and value': (name, x) => ['spec.list', [{ header: name, value: x }]],
  'an argument': args((name, x) => `--${name}=${x}`),
  'two arguments': args((name) => `--${name}`, own),
  'two arguments with one dash': args(
    (name) => `-${name}`,
    own,
    () => '-v',
  ),
  'a property of Java': args((name, x) => `-D${name}=${x}`),
  'an option of Helm': args(
    () => '--set',
    (name, x) => `a.${name}=${x}`,
  ),
  'an assignment': text((name, x) => `a=b\n${name}=${x}\nc=d\n`),
  'an assignment with blanks': text((name, x) => `${name} = ${x}\n`),
  'an assignment with CRLF': text((name, x) => `a=b\r\n${name}=${x}\r\n`),
  'an exported variable': text((name, x) => `export ${name}="${x}"\n`),
  'a property': text((name, x) => `spring.a.${name}=${x}\n`),
  YAML: text((name, x) => `a: b\n${name}: ${x}\n`),
  'YAML in quotes': text((name, x) => `${name}: '${x}'\n`),
  'a block of YAML': text((name, x) => `${name}: |\n  ${x}\n`),
  'the next line of YAML': text((name, x) => `${name}:\n  ${x}\n`),
  'a list of YAML': text((name, x) => `${name}:\n- ${x}\n`),
  'a value below a name of YAML': text((name, x) => `${name}:\n  value: ${x}\n`),
  'an item of YAML': text((name, x) => `- name: ${name}\n  value: ${x}\n`),
  'an item of YAML with the value first': text((name, x) => `- value: ${x}\n  name: ${name}\n`),
  JSON: text((name, x) => `{"a":"b","${name}":"${x}"}`),
  'JSON in JSON': text((name, x) => JSON.stringify(JSON.stringify({ [name]: x }))),
  'an item of JSON': text((name, x) => JSON.stringify([{ name, value: x }])),
  'an item of JSON with the value first': text((name, x) => JSON.stringify([{ value: x, name }])),
  'a value below a name of JSON': text((name, x) => JSON.stringify({ [name]: { value: x } })),
  'a name and a value in quotes': text((name, x) => `${name} "${x}"\n`),
  'a line of a name and a value': text((name, x) => `a b\n${name} ${x}\nc d\n`),
  'a line that ends in both': text((name, x) => `neighbor 10.0.0.1 ${name} ${x}\n`),
  'a line with a tab': text((name, x) => `${name}\t${x}\n`),
  'a line of a Dockerfile': text((name, x) => `ENV ${name} ${x}\n`),
  'an element of XML': text((name, x) => `<a><${name}>${x}</${name}></a>`),
  'an attribute of XML': text((name, x) => `<a ${name}="${x}"/>`),
  'two attributes of XML': text((name, x) => `<add key="${name}" value="${x}"/>`),
  'an attribute and an element of XML': text(
    (name, x) => `<property name="${name}">${x}</property>`,
  ),
  'two elements of XML': text((name, x) => `<name>${name}</name><value>${x}</value>`),
  'a value in an element of XML': text((name, x) => `<${name}><value>${x}</value></${name}>`),
  'a query of an address': text((name, x) => `https://a.example.com/x?a=b&${name}=${x}&c=d`),
  'a connection string': text((name, x) => `Server=db;Uid=app;${name}=${x};Encrypt=yes`),
  'a hash of Ruby': text((name, x) => `:${name} => '${x}',\n`),
  'a constant of PHP': text((name, x) => `define('${name}', '${x}');\n`),
  'an argument of a call': text((name, x) => `connect(host="a", ${name}='${x}')\n`),
  'an item of a dictionary': text((name, x) => `os.environ['${name}'] = '${x}'\n`),
  'a default of a variable in code': text((name, x) => `os.getenv("${name}", "${x}")\n`),
  'a default of a variable in a text': text((name, x) => `url: \${${name}:-${x}}\n`),
  'a default that is assigned': text((name, x) => `: \${${name}:=${x}}\n`),
  'a default of a property, with a blank': text((name, x) => `a: \${${name}: ${x}}\n`),
  'a default without a colon': text((name, x) => `: \${${name.replace(/\W/g, '_')}=${x}}\n`),
  'a default behind a dash alone': text((name, x) => `a \${${name.replace(/\W/g, '_')}-${x}}\n`),
  'a value in place of a variable': text((name, x) => `a \${${name}:+${x}}\n`),
  'an open brace before a name': text((name, x) => `\${${name}=${x}\n`),
  'a header of a command': text((name, x) => `curl -H "${name}: ${x}" https://a.example.com\n`),
  'a header of nginx': text((name, x) => `proxy_set_header ${name} ${x};\n`),
  base64: text((name, x) => base64(`${name}=${x}\n`)),
  'an address that is encoded': text((name, x) => encodeURIComponent(`${name}=${x}`)),
}
