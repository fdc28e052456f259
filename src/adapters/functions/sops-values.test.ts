import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { setVariable } from '../../../test/fakes/set-variable.ts'
import { BLOCK, scriptedSops } from '../../../test/sops/scripted-sops.ts'
import { createSopsDecryptor } from './sops-values.ts'

const signal = new AbortController().signal
const tools = scriptedSops()
const PLAIN = 'apiVersion: v1\nkind: Secret\nstringData:\n    token: c4n4ry-token\n'
const AGE = /^ {4}age:[\s\S]*enc: none\n/m

function decrypting(
  text: string,
  environment: { readonly [name: string]: string | undefined } = tools.environment,
  workingDirectory = '/',
) {
  const sops = createSopsDecryptor({ allowed: [tools.program], environment, workingDirectory })
  assert.ok(sops !== undefined)
  return sops.decrypt({ where: 'apps/web/secret.yaml', text, format: 'yaml', signed: true }, signal)
}

async function failureOf(
  text: string,
  environment?: { readonly [name: string]: string | undefined },
) {
  const answer = await decrypting(text, environment)
  assert.ok('failure' in answer)
  assert.deepEqual([answer.failure.code, answer.failure.where], ['BP1211', 'apps/web/secret.yaml'])
  assert.doesNotMatch(JSON.stringify(answer.failure), /c4n4ry|yr4n4c/)
  return answer.failure.why
}

test('starts only sops, by name or absolute path, and only if the operator allows it', () => {
  const given = (...allowed: readonly string[]) =>
    createSopsDecryptor({ allowed, environment: {}, workingDirectory: '/' }) !== undefined
  assert.deepEqual(
    [
      given('sops'),
      given('/opt/bin/sops'),
      given('kubectl'),
      given('sops exec-env'),
      given('bin/sops'),
      given(),
    ],
    [true, true, false, false, false, false],
  )
})

test('sops gets the age key and no other credentials from the environment', async () => {
  const environment = {
    ...tools.environment,
    PATH: process.env['PATH'],
    AWS_SECRET_ACCESS_KEY: 'a',
    VAULT_TOKEN: 'b',
    SOPS_AGE_KEY_CMD: 'c',
  }
  const answer = await decrypting(tools.encrypt(PLAIN), environment)
  assert.ok('values' in answer)
  const { HOME, TMPDIR, ...rest } = tools.lastEnvironment()
  assert.ok(HOME?.startsWith(tmpdir()) && TMPDIR?.startsWith(tmpdir()))
  const names = Object.keys(rest).filter((name) => !name.startsWith('BACKPORCH_'))
  assert.deepEqual(names.sort(), [
    'HTTPS_PROXY',
    'HTTP_PROXY',
    'LANG',
    'NO_PROXY',
    'SOPS_AGE_KEY_FILE',
    'TZ',
  ])
})

test('a caller that times out does not cancel the decryption of another caller', async () => {
  const sops = createSopsDecryptor({
    allowed: [tools.program],
    environment: tools.environment,
    workingDirectory: '/',
  })
  const file = { where: 'a', text: tools.encrypt(PLAIN), format: 'yaml', signed: true } as const
  const slow = new AbortController()
  const [first, second] = [sops?.decrypt(file, slow.signal), sops?.decrypt(file, signal)]
  slow.abort(new Error('too slow'))
  await assert.rejects(async () => first, /too slow/)
  assert.ok('values' in ((await second) ?? {}))
})

test('a file of several clusters is decrypted once', async () => {
  const sops = createSopsDecryptor({
    allowed: [tools.program],
    environment: tools.environment,
    workingDirectory: '/',
  })
  const file = { where: 'a', text: tools.encrypt(PLAIN), format: 'yaml', signed: true } as const
  const [one, two] = await Promise.all([sops?.decrypt(file, signal), sops?.decrypt(file, signal)])
  assert.ok(one !== undefined && one === two)
  assert.equal(await sops?.decrypt(file, signal), one)
})

test('a relative path of the key file is resolved against the working directory', async () => {
  const path = tools.environment['SOPS_AGE_KEY_FILE'] ?? ''
  const [folder, name] = [
    path.slice(0, path.lastIndexOf('/')),
    path.slice(path.lastIndexOf('/') + 1),
  ]
  assert.ok(
    'values' in (await decrypting(tools.encrypt(PLAIN), { SOPS_AGE_KEY_FILE: name }, folder)),
  )
})

test('finds a value by its ciphertext, never prints it, and leaves no file behind', async (t) => {
  const text = tools.encrypt(PLAIN)
  // Of its own: other tests decrypt in the common one.
  const own = mkdtempSync(join(tmpdir(), 'backporch-test-'))
  t.after(() => rmSync(own, { recursive: true }))
  const restore = setVariable('TMPDIR', own)
  const answer = await decrypting(text).finally(restore)
  assert.deepEqual(readdirSync(own), [])
  assert.ok('values' in answer)
  const { values } = answer
  const document = parseGoYaml(text, 'test').documents[0]?.value as {
    readonly stringData: { readonly token: string }
  }
  assert.equal(values.findPlain(document.stringData.token), 'c4n4ry-token')
  assert.deepEqual(values.findPlain([document.stringData.token, 'open']), ['c4n4ry-token', 'open'])
  assert.equal(
    values.findPlain({ a: 'ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]' }),
    undefined,
  )
  for (const printed of [
    JSON.stringify(answer),
    inspect(answer, { depth: 9, showHidden: true }),
    String(values),
    `${Object.entries(values)}`,
  ])
    assert.doesNotMatch(printed, /c4n4ry/)
})

test('a file without an age recipient is not given to sops, and the reason names its other keys', async () => {
  const kms = tools.encrypt(PLAIN).replace(AGE, '    kms:\n        - arn: arn:aws:kms:eu:1:key/2\n')
  assert.match(
    await failureOf(kms),
    /no age recipient, and no other kind of key is supported \(kms\)/,
  )
  const groups = tools
    .encrypt(PLAIN)
    .replace('    mac:', '    key_groups:\n        - hc_vault: []\n    mac:')
  assert.match(await failureOf(groups), /groups of keys/)
})

test('sops gets only the age recipients of a file that has other keys too', async () => {
  const others =
    '    gcp_kms:\n        - resource_id: projects/a\n    hc_vault: []\n    pgp:\n        - fp: AB\n'
  const answer = await decrypting(
    `${tools.encrypt(PLAIN).replace(BLOCK, '')}${BLOCK.replace('sops:\n', `sops:\n${others}`)}`,
  )
  assert.ok('values' in answer)
  const given = tools.lastInput()
  assert.match(given, /recipient: age1q0/)
  assert.doesNotMatch(given, /gcp_kms|pgp/)
})

test('failures never quote the output of sops', async () => {
  const text = tools.encrypt(PLAIN)
  assert.match(await failureOf(text, tools.wrongKey), /no given key decrypts it/)
  assert.match(await failureOf(`${text}other:\n    tier: two\n`), /signature/)
  assert.match(await failureOf(text, {}), /it has no key/)
  assert.match(
    await failureOf(text.replace('kind: Secret', 'kind: [')),
    /cannot be read \(BP1110\)/,
  )
})
