/** `-n` is the namespace of manifests that have none, as for kubectl: in every command that compares, and with a recorded cluster. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { JsonObject } from '@backporch/kyaml/json'
import { makePackages } from '../../test/action/stage.ts'
import { gitTestEnvironment } from '../../test/contract/git-remotes.ts'
import { backporchHere } from '../../test/e2e/run-here.ts'
import { appliedBy, editedBy } from '../../test/fakes/live-object.ts'
import { yaml } from '../../test/fakes/turn-world.ts'

const folder = mkdtempSync(join(tmpdir(), 'backporch-namespace-'))
const environment = gitTestEnvironment(folder)
const MANIFEST =
  'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: palette\ndata:\n  color: blue\n'
const PLACED = MANIFEST.replace('name: palette', 'name: fixed\n  namespace: other')

function recordedIn(namespace: string, name: string): JsonObject {
  const live = appliedBy(
    'kubectl',
    yaml(MANIFEST.replace('name: palette', `name: ${name}\n  namespace: ${namespace}`)),
  )
  return editedBy('kubectl-edit', live, 'data.color', 'red')
}

before(() => {
  makePackages(join(folder, 'repo'), environment, {
    'palette/palette.yaml': MANIFEST,
    'palette/fixed.yaml': PLACED,
  })
  mkdirSync(join(folder, 'live'))
  const spec = {
    cluster: 'prod',
    observedAt: '2026-11-21T10:00:00Z',
    complete: [{ apiVersion: 'v1', kind: 'ConfigMap' }],
  }
  const header = { apiVersion: 'backporch.dev/v1alpha1', kind: 'Recording', spec }
  const all = {
    'recording.json': header,
    'a.json': recordedIn('boutique', 'palette'),
    'b.json': recordedIn('other', 'fixed'),
  }
  for (const [name, content] of Object.entries(all))
    writeFileSync(join(folder, 'live', name), JSON.stringify(content))
})
after(() => rmSync(folder, { recursive: true, force: true }))

async function run(...argv: readonly string[]): Promise<string> {
  const options = { cwd: folder, env: { ...environment, BACKPORCH_KEY: 'ab'.repeat(32) } }
  const { stdout, stderr } = await backporchHere(
    [...argv, '--repo', 'repo', '--live', 'live', '--path', 'palette', '-q'],
    options,
  )
  return `${stdout}${stderr}`
}

test('without -n a manifest without a namespace gets that of the context', async () => {
  assert.match(await run('diff'), /ConfigMap default\/palette/)
})

test('diff -n uses the namespace for manifests without one, and shows only that namespace', async () => {
  const text = await run('diff', '-n', 'boutique')
  assert.match(text, /ConfigMap boutique\/palette[\s\S]*data\.color/)
  assert.doesNotMatch(text, /default\/palette|other\/fixed/)
})

test('a manifest with a namespace keeps it', async () => {
  const text = await run('explain', 'palette', '-n', 'boutique')
  assert.match(text, /ConfigMap boutique\/palette/)
  assert.match(text, /ConfigMap other\/fixed/)
  assert.doesNotMatch(text, /default\/palette/)
})

test('commands that write refer to the same object', async () => {
  assert.match(
    await run('scan', '--dry-run', '--namespace', 'boutique'),
    /ConfigMap boutique\/palette {3}palette\/palette\.yaml:1/,
  )
  assert.match(
    await run('adopt', 'palette', '--dry-run', '-n', 'boutique'),
    /palette\/palette\.yaml:6/,
  )
  const { items } = JSON.parse(
    await run('restore', 'palette', '--dry-run', '-n', 'boutique', '-o', 'json'),
  ) as {
    items: { spec: { changes: { ref: { namespace: string } }[] } }[]
  }
  assert.deepEqual(
    items.flatMap(({ spec }) => spec.changes.map(({ ref }) => ref.namespace)),
    ['other', 'boutique'],
  )
})
