import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import {
  createRedactionKey,
  hasEncrypted,
  isEncryptedEntry,
  isEncryptedValue,
  omitSops,
  PlainValues,
} from '@backporch/kyaml/redaction'
import { type Resource, readResource } from '@backporch/kyaml/resource'
import {
  appliedBy,
  editedBy,
  path,
  TEST_SCHEMA,
  withMetadata,
} from '../../../test/fakes/live-object.ts'
import {
  isEncrypted,
  isEncryptedLocation,
  removeSealedValues,
  sealAnswer,
  sealLive,
} from './encrypted-fields.ts'

const KEY = createRedactionKey(new Uint8Array(32))
const SYNCER = { manager: 'flux', operation: 'Apply', subresource: '' } as const
const ENC = 'ENC[AES256_GCM,data:Zm9v,iv:aXY=,tag:dGFn,type:str]'

function resourceOf(object: JsonObject): Resource {
  const read = readResource(object)
  assert.ok('id' in read)
  return read
}

function config(data: JsonObject, kind = 'ConfigMap'): JsonObject {
  return {
    apiVersion: 'v1',
    kind,
    metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } },
    data,
  }
}

const seal = (live: JsonObject, git: JsonObject) =>
  sealLive(live, resourceOf(git), TEST_SCHEMA, { syncer: SYNCER, key: KEY })

test('recognizes an encrypted value only by its full form, and an entry by the mark of an encrypted file', () => {
  assert.ok(isEncryptedValue(ENC))
  for (const other of ['ENC[AES256_GCM', 'ENC[x]', `see ${ENC}`, '', 7, null])
    assert.ok(!isEncryptedValue(other))
  const entry = (text: string): boolean => isEncryptedEntry(Buffer.from(text).toString('base64'))
  assert.ok(entry(`password: ${ENC}\nsops:\n  mac: ENC[AES256_GCM,data:a]\n`))
  assert.ok(entry(`A=${ENC}\nsops_mac=ENC[AES256_GCM,data:a]\n`))
  assert.ok(entry(`{"data": "x", "sops": {\n"mac": "ENC[AES256_GCM,data:a]"}}`))
  assert.ok(!entry('password: plain and long enough to look at\n'))
})

test('omits the SOPS metadata, but keeps a field named sops without a signature', () => {
  assert.deepEqual(omitSops({ ...config({}), sops: { mac: ENC } }), config({}))
  assert.deepEqual(omitSops({ ...config({}), sops: { enabled: true } })['sops'], {
    enabled: true,
  })
  assert.ok(!hasEncrypted(config({ a: 'b' })) && !isEncrypted(config({ a: 'b' })))
})

test('shows syncer values as encrypted in git and others as keyed hashes, with no plain value', () => {
  const git = config({ dsn: ENC, level: ENC })
  const applied = appliedBy('flux', config({ dsn: 'plain-1', level: 'plain-2' }))
  assert.deepEqual(seal(applied, git).object['data'], git['data'])
  const edited = editedBy(
    'kubectl-edit',
    editedBy('kubectl-edit', applied, 'data.level', 'plain-3'),
    'data.more',
    'plain-4',
  )
  const { object, unproven } = seal(edited, git)
  const data = object['data'] as JsonObject
  assert.deepEqual([data['dsn'], unproven], [ENC, []])
  for (const name of ['level', 'more'])
    assert.match(String(data[name]), /^hmac-sha256:[0-9a-f]{16} \(7 bytes\)$/)
  assert.doesNotMatch(JSON.stringify(object), /plain/)
})

test('a field with an unknown writer, or without a syncer, is unproven', () => {
  const git = config({ dsn: ENC })
  const live = withMetadata(config({ dsn: 'plain' }), { managedFields: null })
  assert.equal(seal(live, git).unproven.length, 1)
  const applied = appliedBy('flux', config({ dsn: 'plain' }))
  assert.equal(
    sealLive(applied, resourceOf(git), TEST_SCHEMA, { syncer: undefined, key: KEY }).unproven
      .length,
    1,
  )
  assert.equal(seal(config({}), git).unproven.length, 0, 'what is not there is compared as a key')
})

test('a dry run sends live values for encrypted ones, and its answer gets the text from git back', () => {
  const git = config({ dsn: ENC, gone: ENC, plain: 'x' })
  const live = appliedBy('flux', config({ dsn: 'plain-1', plain: 'x' }))
  const sent = removeSealedValues(resourceOf(git), live, TEST_SCHEMA)
  assert.deepEqual(sent['data'], { dsn: 'plain-1', plain: 'x' })
  assert.deepEqual(sealAnswer(sent, resourceOf(git), TEST_SCHEMA, KEY)['data'], {
    dsn: ENC,
    plain: 'x',
    gone: ENC,
  })
})

test('places stringData of a Secret where the server stores it, also in a dry run', () => {
  const { data: _data, ...rest } = config({}, 'Secret')
  const git: JsonObject = { ...rest, stringData: { token: ENC } }
  const live: JsonObject = {
    ...appliedBy('flux', { ...rest, stringData: { token: 'plain' } }),
    data: { token: 'cGxhaW4=' },
  }
  const { object, unproven } = seal(live, git)
  assert.deepEqual(
    [(object['data'] as JsonObject)['token'], unproven],
    [Buffer.from(ENC).toString('base64'), []],
  )
  const sent = removeSealedValues(resourceOf(git), live, TEST_SCHEMA)
  assert.deepEqual([sent['data'], sent['stringData']], [{ token: 'cGxhaW4=' }, {}])
})

test('a list without keys is one location; each item of a keyed list has its own', () => {
  const pod = (value: string, argument: string): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Any',
    metadata: { name: 'a', namespace: 'shop' },
    spec: {
      template: {
        spec: { containers: [{ name: 'app', args: [argument], env: [{ name: 'A', value }] }] },
      },
    },
  })
  const { object } = seal(appliedBy('flux', pod('plain-1', 'plain-2')), pod(ENC, ENC))
  assert.doesNotMatch(JSON.stringify(object), /plain/)
  const location = 'spec.template.spec.containers[name=app]'
  for (const at of [
    `${location}.env[name=A].value`,
    `${location}.env[name=A]`,
    `${location}.args`,
    `${location}.args[0]`,
    location,
  ])
    assert.ok(isEncryptedLocation(path(at), pod(ENC, ENC)), at)
  assert.ok(!isEncryptedLocation(path('metadata.name'), pod(ENC, ENC)))
  assert.ok(
    isEncryptedLocation(path('data.more'), config({ dsn: ENC })),
    'beside fields that are all encrypted',
  )
  assert.ok(!isEncryptedLocation(path('data.more'), config({ dsn: ENC, plain: 'x' })))
})

const numbered = (id: number): string => ENC.replace('aXY=', String(id))
const decrypting = (
  git: JsonObject,
  plain: { readonly [ciphertext: string]: string },
  live: JsonObject,
  more = {},
) =>
  sealLive(live, resourceOf(git), TEST_SCHEMA, {
    syncer: SYNCER,
    key: KEY,
    plain: new PlainValues(new Map(Object.entries(plain))),
    ...more,
  })

test('a decrypted value needs no writer as proof, and an undecrypted one does', () => {
  const git = config({ a: numbered(1), b: numbered(2), c: numbered(3) })
  const live = withMetadata(config({ a: 'plain-a', b: 'plain-other', c: 'plain-c' }), {
    managedFields: null,
  })
  const { object, unproven, asksEarlier } = decrypting(
    git,
    { [numbered(1)]: 'plain-a', [numbered(2)]: 'plain-b' },
    live,
  )
  const data = object['data'] as JsonObject
  assert.deepEqual([data['a'], data['c']], [numbered(1), numbered(3)])
  assert.match(String(data['b']), /^hmac-sha256:/)
  assert.deepEqual([unproven, asksEarlier], [[path('data.c')], false])
})

test('compares a list with encrypted items as a whole, and only when each item is decrypted', () => {
  const pod = (first: string, second: string): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Any',
    metadata: { name: 'a', namespace: 'shop' },
    spec: { template: { spec: { containers: [{ name: 'app', args: [first, second, 'open'] }] } } },
  })
  const git = pod(numbered(1), numbered(2))
  const [one, both] = [
    { [numbered(1)]: 'plain-1' },
    { [numbered(1)]: 'plain-1', [numbered(2)]: 'plain-2' },
  ]
  const wrong = appliedBy('flux', pod('plain-1', 'plain-other'))
  assert.deepEqual(decrypting(git, one, wrong).asksEarlier, false)
  assert.ok(decrypting(git, both, wrong).asksEarlier)
  assert.ok(
    !decrypting(git, both, appliedBy('kubectl-edit', pod('plain-1', 'plain-2'))).asksEarlier,
  )
})

test('a syncer value from an earlier version appears as encrypted in that version', () => {
  const [git, before] = [config({ dsn: numbered(2) }), config({ dsn: numbered(1) })]
  const live = appliedBy('flux', config({ dsn: 'plain-old' }))
  const versions = [
    { object: before, plain: new PlainValues(new Map([[numbered(1), 'plain-old']])) },
  ]
  const dataWith = (earlier: object | undefined): unknown =>
    (
      decrypting(git, { [numbered(2)]: 'plain-new' }, live, { earlier }).object[
        'data'
      ] as JsonObject
    )['dsn']
  assert.equal(dataWith({ versions, complete: true }), numbered(1))
  assert.match(String(dataWith({ versions: [], complete: true })), /^hmac-sha256:/)
  assert.equal(
    dataWith({ versions: [], complete: false }),
    numbered(2),
    'what cannot be decrypted is no drift',
  )
})
