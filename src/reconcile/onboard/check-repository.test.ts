import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { BOT_EMAIL, MemoryRepository } from '../../../test/fakes/memory-repository.ts'
import { TurnWorld } from '../../../test/fakes/turn-world.ts'
import { INERT_LINE } from '../../record/write-document.ts'
import {
  checkLedger,
  judgeKept,
  judgePolicy,
  readBase,
  readPolicy,
  readReports,
  readSynced,
} from './check-repository.ts'

const signal = new AbortController().signal
const OURS = { author: BOT_EMAIL, committer: BOT_EMAIL }
const RECORD = '.drift/records/prod/apps--web/20261121-1a2b3c4d.yaml'
const LOCAL =
  'kind: DriftRecord\nmetadata:\n  annotations:\n    config.kubernetes.io/local-config: "true"\n'

async function base(files: { readonly [path: string]: string }, branch?: string) {
  const repository = new MemoryRepository()
  repository.commitByHand('main', files)
  return { repository, base: await readBase(repository, branch, signal) }
}

async function synced(files: { readonly [path: string]: string }) {
  const { repository, base: known } = await base(files)
  return readSynced(repository, known, () => false, signal)
}

async function ledger(write: (repository: MemoryRepository) => void) {
  const { repository } = await base({ x: 'y' })
  write(repository)
  const found = await checkLedger(
    repository,
    await readBase(repository, undefined, signal),
    { email: BOT_EMAIL },
    signal,
  )
  return found.map(({ check, state, message }) => `${check} ${state} ${message}`)
}

test('names a missing branch', async () => {
  await assert.rejects(
    base({ x: 'y' }, 'release'),
    (thrown) =>
      thrown instanceof Failure && thrown.code === 'BP1003' && /"release"/.test(thrown.what),
  )
})

test('a record is inert only with both marks and in all its documents', async () => {
  for (const [text, state] of [
    [`${INERT_LINE}\n${LOCAL}`, 'passed'],
    [LOCAL, 'failed'],
    [`${INERT_LINE}\nkind: DriftRecord\n`, 'failed'],
    [`${INERT_LINE}\n${LOCAL}---\nkind: ConfigMap\n`, 'failed'],
    [`${INERT_LINE}\nkind: [\n`, 'failed'],
  ] as const)
    assert.deepEqual(
      judgeKept((await base({ [RECORD]: text })).base, await synced({ [RECORD]: text })).map(
        (found) => found.state,
      ),
      [state],
      text,
    )
})

test('returns the files of backporch that syncers would read, and the ignore files that exclude them', async () => {
  const observed = await synced({
    '.drift/policy.yaml': 'kind: DriftPolicy\n',
    '.drift/notes.md': 'for people',
    '.sourceignore': '/.drift/\n',
    '.drift/.sourceignore': '*',
    'apps/web/kustomization.yaml': '',
  })
  assert.deepEqual(
    observed.retained.map(({ path }) => path),
    ['.drift/policy.yaml'],
  )
  assert.deepEqual(
    [...observed.ignoreFiles],
    [
      ['.drift/.sourceignore', '*'],
      ['.sourceignore', '/.drift/\n'],
    ],
  )
  assert.equal(observed.rootKustomization, false)
  for (const name of ['kustomization.yaml', 'kustomization.yml', 'Kustomization']) {
    assert.equal((await synced({ [name]: '' })).rootKustomization, true, name)
  }
})

test('a policy is a file directly in .drift/', async () => {
  const { repository, base: known } = await base({
    [RECORD]: 'kind: DriftPolicy\n',
    'apps/policy.yaml': 'kind: DriftPolicy\n',
  })
  assert.deepEqual((await readPolicy(repository, known, undefined, signal)).policies, [])
})

test('the ledger must have only commits of backporch and no merges', async () => {
  assert.match(
    (await ledger(() => undefined)).join(),
    /^ledger passed drift-ledger: does not exist yet/,
  )
  const two = await ledger((repository) => {
    repository.commitByHand('drift-ledger', { a: 'b' }, OURS)
    repository.commitByHand('drift-ledger', { a: 'c' }, OURS)
  })
  assert.deepEqual(two, ['ledger passed drift-ledger: 2 commits, all of Backporch'])
  for (const more of [
    { author: BOT_EMAIL, committer: 'eve@example.com' },
    { author: 'eve@example.com', committer: BOT_EMAIL },
  ]) {
    const theirs = await ledger((repository) => {
      repository.commitByHand('drift-ledger', { a: 'b' }, more)
      repository.commitByHand('drift-ledger', { a: 'c' }, OURS)
    })
    assert.match(theirs.join(), /^ledger warning .* is not from backporch$/)
  }
  const merged = await ledger((repository) => {
    const one = repository.commitByHand('drift-ledger', { a: 'b' }, OURS)
    const other = repository.commitByHand('other', { a: 'c' }, OURS)
    repository.commitByHand('drift-ledger', { a: 'd' }, { ...OURS, parents: [one, other] })
  })
  assert.match(merged.join(), /^ledger warning /)
})

test('reports the age of each cluster in the ledger, or that it cannot be read', async () => {
  const found = await ledger((repository) =>
    repository.commitByHand(
      'drift-ledger',
      { 'clusters/prod/observation.yaml': 'kind: [\n' },
      OURS,
    ),
  )
  assert.match(
    found[1] ?? '',
    /^ledger-age warning drift-ledger:clusters\/prod\/observation\.yaml cannot be read$/,
  )
})

test('reports stale ignore rules from the ledger with their place, after the first observation', async () => {
  const rules =
    '[{target: {kind: Deployment}, paths: [spec.paused], reason: r, expires: "2027-12-31"}, {target: {kind: Job}, reason: r, expires: "2027-12-31"}]'
  const world = new TurnWorld(`{ignore: ${rules}}`)
  const reported = async (today: string): Promise<readonly string[]> => {
    const base = await readBase(world.repository, undefined, signal)
    const findings = judgePolicy(
      await readPolicy(world.repository, base, undefined, signal),
      await readReports(world.repository, base, signal),
      today,
    )
    return findings.flatMap(({ state, message }) => (state === 'warning' ? [message] : []))
  }
  assert.deepEqual(await reported('2027-01-01'), [])
  await world.scan()
  const untried =
    'policy: the ignore rule at .drift/policy.yaml:4 (Job) matches no observed object, or no scan ran since it was written'
  assert.deepEqual(await reported('2026-12-20'), [untried])
  const stale =
    'policy: the ignore rule at .drift/policy.yaml:4 has matched nothing since it was first tried on 2026-11-21'
  assert.deepEqual(await reported('2026-12-21'), [stale, untried])
})
