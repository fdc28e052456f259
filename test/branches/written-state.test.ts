/**
 * What earlier versions wrote in git is read by every later one: ledger, records, policies, drafts, proposals, tags. A bundle in `fixtures/` is the whole
 * of it as a version wrote it; `fixtures/write-written-state.ts` writes a new one, and those of before stay.
 */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { WrittenState } from './written-state.ts'

const FIXTURES = fileURLToPath(new URL('fixtures/', import.meta.url))
const BUNDLES = readdirSync(FIXTURES)
  .filter((name) => name.startsWith('state-'))
  .toSorted()
const LEDGER = 'refs/heads/drift-ledger'

function read(t: TestContext, bundle: string): WrittenState {
  const written = WrittenState.read(join(FIXTURES, bundle))
  t.after(() => written.remove())
  return written
}

/** Until when nobody is reminded of a proposal. */
async function snoozes(written: WrittenState): Promise<readonly string[]> {
  const { stdout } = await written.run([3], 'status', '-o', 'json')
  const list: { items: { status: { snoozedUntil?: string } }[] } = JSON.parse(stdout)
  return list.items.flatMap(({ status }) => status.snoozedUntil ?? [])
}

test('this version writes the same bytes as the newest bundle', async (t) => {
  const written = await WrittenState.begin()
  t.after(() => written.remove())
  await written.live()
  assert.deepEqual(
    Object.fromEntries(written.refs()),
    Object.fromEntries(read(t, BUNDLES.at(-1) ?? '').refs()),
  )
})

for (const bundle of BUNDLES)
  describe(bundle, () => {
    test('reads status, packages and history', async (t) => {
      const written = read(t, bundle)
      const status = (await written.run([3], 'status')).stdout
      for (const line of [
        /^prod +apps\/adopted +v1 +✓ InSync /m,
        /^prod +apps\/declined +- +✓ Silenced .* medium .* restore /m,
        /^prod +apps\/drafted +- +~ Drifted /m,
        /^prod +apps\/gone +- +✓ InSync /m,
        /^prod +apps\/open +- +~ Drifted .* restore +drift-5b2aa00d /m,
        /^prod +apps\/snoozed +- +~ Drifted .* restore +drift-2cf63e85 /m,
        /^test +apps\/open +- +~ Drifted .* restore +drift-8a465814 /m,
      ])
        assert.match(status, line)
      const packages = (await written.run([0], 'get', 'packages')).stdout
      assert.match(
        packages,
        /^deploy\.apps\.adopted\.drift-d6cea779 +apps\/adopted +drift-d6cea779 +1 +true +Published /m,
      )
      assert.match(packages, /^deploy\.apps\.drafted\.drift-63ba0fe1 .* Draft /m)
      assert.match(packages, /^deploy\.apps\.open\.drift-5b2aa00d .* Proposed /m)
      const history = (await written.run([0], 'history')).stdout
      for (const [name, resolution] of Object.entries({
        adopted: 'adopt',
        declined: 'declined',
        gone: 'healed',
        released: 'release',
        restored: 'restore',
      }))
        assert.match(
          history,
          new RegExp(`^2026-11-21 08:\\d\\dZ +prod +apps/${name} .* ${resolution} `, 'm'),
        )
      const check = (await written.run([0], 'check', ...written.of('prod'))).stdout
      assert.match(check, /^✓ policy: 2 valid/m)
      assert.match(check, /^✓ records: 3, all inert for syncers$/m)
    })

    test('a scan keeps proposals, drafts and tags, and remembers decisions', async (t) => {
      const written = read(t, bundle)
      const before = written.refs()
      const snoozed = await snoozes(written)
      const [prod, again] = await written.observe()
      assert.match(prod?.stdout ?? '', /^ {2}rejected before: silent until 2026-12-21T08:08:00Z$/m)
      assert.match(prod?.stdout ?? '', /^1 Released of apps\/released in prod /m)
      assert.match(again?.stdout ?? '', /^✓ unchanged: proposed\/apps\/open\/drift-8a465814$/m)
      const others = (refs: ReadonlyMap<string, string>) =>
        [...refs].filter(([ref]) => ref !== LEDGER)
      assert.deepEqual(others(written.refs()), others(before))
      assert.deepEqual(await snoozes(written), snoozed)
      // The commands of later bundles snooze nothing: that takes a comment on a forge.
      assert.equal(snoozed.length, bundle === 'state-2026-11-29.bundle' ? 1 : 0)
    })

    test('decides an open proposal and a draft', async (t) => {
      const written = read(t, bundle)
      const records = (): readonly string[] =>
        written.files('main').filter((path) => path.endsWith('.record'))
      const earlier = new Map(records().map((path) => [path, written.show(`main:${path}`)]))
      await written.run(
        [0],
        'approve',
        'apps/open',
        '--yes',
        '--as',
        'Grace',
        ...written.of('prod'),
      )
      await written.run([0], 'adopt', 'apps/drafted', '-m', 'kept', ...written.of('prod'))
      await written.run(
        [0],
        'approve',
        'apps/drafted',
        '--yes',
        '--as',
        'Grace',
        ...written.of('prod'),
      )
      assert.match(written.show('main:apps/drafted/config.yaml'), /^ {2}color: red # ours$/m)
      for (const name of ['open', 'drafted'])
        assert.ok(written.refs().has(`refs/tags/apps/${name}/v1`), name)
      for (const [path, text] of earlier) assert.equal(written.show(`main:${path}`), text)
      assert.equal(records().length, earlier.size + 2)
    })
  })
