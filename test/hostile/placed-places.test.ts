/** The places in memory: each as an object of its own that is imported, and all of them through the outputs, beside a preview of their merge. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FieldPath, formatFieldPath } from '@backporch/kyaml/field'
import {
  filterTexts,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { createRedactionKey, isSensitive, showObject } from '@backporch/kyaml/redaction'
import { readResource } from '@backporch/kyaml/resource'
import { redactShownText } from '../../src/record/shown-text.ts'
import { formatDocument } from '../../src/record/write-document.ts'
import { CanarySearch } from '../e2e/canary-search.ts'
import { runInWorld } from '../fakes/cli-world.ts'
import { appliedBy, editedBy } from '../fakes/live-object.ts'
import { KPTFILE, TurnWorld } from '../fakes/turn-world.ts'
import { seedsOf } from '../seeds/seeds.ts'
import { Draw } from './credential-forms.ts'
import { type PlacedValue, placedObject, placedObjects, placedValues } from './placed-places.ts'

const PLACES = 194
const KEY = createRedactionKey(new Uint8Array(32).fill(1))
/** What the functions of a package and formats print. */
const OUTPUTS: readonly (readonly string[])[] = [
  ...['table', 'wide', 'json', 'yaml', 'jsonl', 'github'].map((format) => [
    'diff',
    '-o',
    format,
    '--debug',
  ]),
  ['diff', '--yaml'],
  ['explain', 'apps/web', '--debug'],
  ...['table', 'markdown', 'json', 'yaml'].map((format) => [
    'preview',
    '--head',
    'change',
    '-o',
    format,
    '--debug',
  ]),
  ['adopt', 'apps/web', '--dry-run', '--debug'],
  ['scan', '--debug'],
  ['status', '-o', 'json'],
  ['get', 'drifts', '-o', 'yaml'],
  ['history', '-o', 'yaml'],
]

for (const { seed } of seedsOf(import.meta.filename)) {
  const all = placedValues(new Draw(`placed ${seed}`))
  for (const [at, shape] of ['short', 'long', 'human'].entries()) {
    const values = all.slice(at * PLACES, (at + 1) * PLACES)

    test(`${shape}: import skips and names each object with a credential at any place`, async () => {
      const world = new TurnWorld('{mode: Propose}')
      for (const value of values)
        world.cluster.put(placedObject({ ...value, name: `p${values.indexOf(value)}` }, 'new'))
      world.cluster.put({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'plain', namespace: 'new' },
        data: { hue: 'grey' },
      })
      const run = await runInWorld(world, [
        'import',
        '--namespace',
        'new',
        '--to',
        'apps/new',
        '--debug',
      ])
      assert.match(run.stdout, /adds apps\/new with 1 object\n/, run.stderr)
      assert.equal(run.stdout.match(/^ {2}not imported: /gm)?.length, PLACES)
      assertNowhere(values, [run.stdout, run.stderr, world.repository.everything()])
    })

    test(`${shape}: hides any change that contains the value, however much of the object it covers`, () => {
      for (const value of values) {
        const object = placedObject({ ...value, name: 'app' }, 'shop')
        const read = readResource(object)
        assert.ok(!('problem' in read))
        const { id } = read
        const shown = changesAbove(object, value).filter(
          ({ path, part }) => !isSensitive({ id, path }, part),
        )
        assert.deepEqual(
          shown.map(({ path }) => `${value.name}: ${formatFieldPath(path)}`),
          [],
        )
      }
    })

    test(`${shape}: neither the copy of an object nor its file contains the value from any place`, () => {
      for (const value of values) {
        const object = placedObject({ ...value, name: 'app' }, 'shop')
        const read = readResource(object)
        assert.ok(!('problem' in read))
        assertNowhere(
          [value],
          [
            JSON.stringify(showObject(KEY, read.id, object)),
            redactShownText(formatDocument(object), KEY) ?? '',
          ],
        )
      }
    })

    test(`${shape}: no output, git content or merge preview contains the value from any place`, async () => {
      const inHead = placedValues(new Draw(`head ${seed}`)).slice(at * PLACES, (at + 1) * PLACES)
      const [live, merged] = [values, inHead].map((some) => placedObjects(some, 'shop', 'all'))
      const files = Object.fromEntries(
        (live ?? []).map(({ plain }, index) => [`apps/web/${index}.yaml`, formatDocument(plain)]),
      )
      const world = new TurnWorld('{mode: Propose}', { 'apps/web/Kptfile': KPTFILE, ...files })
      for (const { plain, withSecrets } of live ?? [])
        world.cluster.put(changed(appliedBy(world.syncer, plain), withSecrets))
      world.repository.branches.set('refs/heads/change', world.repository.head('main'))
      const secrets = Object.fromEntries(
        (merged ?? []).map(({ withSecrets }, index) => [
          `apps/web/${index}.yaml`,
          formatDocument(withSecrets),
        ]),
      )
      world.repository.commitByHand('change', secrets)
      const runs = new Map<string, string>()
      const texts: string[] = []
      for (const args of OUTPUTS) {
        const { stdout, stderr } = await runInWorld(world, args)
        runs.set(args.join(' '), stdout)
        texts.push(stdout, stderr)
      }
      assert.equal(
        JSON.parse(runs.get('diff -o json --debug') ?? '').items[0].spec.changes.length,
        PLACES,
      )
      assert.ok(
        JSON.parse(runs.get('preview --head change -o json --debug') ?? '').items[0].changes
          .length >=
          PLACES - 10,
      )
      assertNowhere(values, [...texts, world.repository.everything()])
      assertNowhere(inHead, texts)
    })
  }
}

interface Part {
  readonly path: FieldPath
  readonly part: Json
}

/** The place itself, and each field, item and list of which it is a part. */
function changesAbove(object: JsonObject, { value, place }: PlacedValue): readonly Part[] {
  const wanted = JSON.stringify(place.value)
  const found: Part[] = []
  const walk = (part: Json, path: FieldPath): void => {
    if (
      !JSON.stringify(part).includes(
        isJsonObject(place.value) || isJsonArray(place.value) ? wanted : wanted.slice(1, -1),
      )
    )
      return
    if (path.length > 0) found.push({ path, part })
    if (JSON.stringify(part) === wanted) return
    if (isJsonObject(part))
      for (const [name, below] of Object.entries(part))
        walk(below, [...path, { kind: 'field', name }])
    if (isJsonArray(part))
      for (const [index, below] of part.entries()) {
        const name = isJsonObject(below) ? getKey(below, 'name') : undefined
        walk(below, [
          ...path,
          typeof name === 'string' ? { kind: 'item', keys: { name } } : { kind: 'index', index },
        ])
      }
  }
  walk(object, [])
  assert.ok(found.length > 1, value)
  return found
}

/** Somebody wrote the object. */
function changed(applied: JsonObject, withSecrets: JsonObject): JsonObject {
  const metadata = {
    ...(getKey(applied, 'metadata') as JsonObject),
    ...(getKey(withSecrets, 'metadata') as JsonObject),
  }
  const finalizers = filterTexts(getKey(metadata, 'finalizers'))
  return finalizers.reduce(
    (object, name) => editedBy('kubectl-edit', object, `metadata.finalizers[="${name}"]`, name),
    {
      ...withSecrets,
      metadata: { ...metadata, finalizers: [] },
    } as JsonObject,
  )
}

function assertNowhere(values: readonly PlacedValue[], texts: readonly string[]): void {
  const search = new CanarySearch(new Map(values.map(({ name, value }) => [name, [value]])))
  const found = search.find(
    texts.map((text, index) => ({ where: `text ${index}`, content: Buffer.from(text) })),
  )
  assert.deepEqual([...found], [])
}
