/** Each repository that a real Porch left behind, scanned once and once more (`fixtures/README.md` says what is true in each). */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import type { ClosedEpisode } from '../../src/record/documents/closed-episode.ts'
import { BundledRepository } from './scan-bundle.ts'

interface Scanned {
  readonly repository: BundledRepository
  /** Printed, on both streams. */
  readonly said: string
  readonly before: ReadonlyMap<string, string>
  readonly refs: ReadonlyMap<string, string>
  /** Of the ledger, by id. */
  readonly closed: ReadonlyMap<string, ClosedEpisode>
}

const made: BundledRepository[] = []
after(() => {
  for (const each of made) each.remove()
})

async function scanned(
  bundle: string,
  edit: readonly [string, string] = ['', ''],
): Promise<Scanned> {
  const repository = await BundledRepository.of(bundle)
  made.push(repository)
  const before = await repository.refs()
  repository.edit(...edit)
  const { stdout, stderr } = await repository.scan('--no-exit-code')
  assertOnlyUnrendered(stderr)
  const refs = await repository.refs()
  return {
    repository,
    said: stdout + stderr,
    before,
    refs,
    closed: await closedEpisodes(repository),
  }
}

/** The package `shop/api` does not render, in any of the bundles; what Porch did to it counts all the same. */
function assertOnlyUnrendered(stderr: string): void {
  const errors = [...stderr.matchAll(/^error (BP\d+).*\n +where: (\S+)/gm)].map(
    ([, code, where]) => `${code} ${where}`,
  )
  assert.deepEqual(errors, stderr.includes('error ') ? ['BP1201 shop/api/Kptfile:11'] : [], stderr)
}

async function closedEpisodes(
  repository: BundledRepository,
): Promise<ReadonlyMap<string, ClosedEpisode>> {
  const paths = (await repository.git('ls-tree', '-r', '--name-only', 'drift-ledger', 'closed/'))
    .split('\n')
    .filter((path) => path !== '')
  const texts = await Promise.all(
    paths.map((path) => repository.git('show', `drift-ledger:${path}`)),
  )
  const all = texts.map(
    (text) => parseGoYaml(text, 'ledger').documents[0]?.value as unknown as ClosedEpisode,
  )
  return new Map(all.map((episode) => [episode.metadata.name, episode]))
}

async function landedRecord(
  { repository }: Scanned,
  slug: string,
  episode: string,
): Promise<string | undefined> {
  return repository.file('main', `.drift/records/prod/${slug}/20261122-${episode}.record`)
}

/** Of a decision through Porch: who, where, and that it is the revision which Porch published. */
function assertApproved({ closed, before }: Scanned, episode: string, tag: string): ClosedEpisode {
  const found = closed.get(episode)
  assert.ok(found, `${episode} is not closed`)
  const { outcome, decidedBy, commit, revision, publishedBy } = found.status
  assert.deepEqual(
    { outcome, decidedBy, commit, revision, publishedBy },
    {
      outcome: 'Merged',
      decidedBy: 'admin <admin>',
      commit: before.get(`refs/tags/${tag}`),
      revision: tag.slice(tag.lastIndexOf('/') + 1),
      publishedBy: 'porch',
    },
  )
  return found
}

/** Nothing is left to write, and the packages of others are where they were. */
async function assertQuiet({ repository, refs, before }: Scanned): Promise<void> {
  await repository.scan('--no-exit-code')
  assert.deepEqual([...(await repository.refs())], [...refs], 'the second scan writes')
  for (const [ref, commit] of before)
    if (ref.startsWith('refs/tags/')) assert.equal(refs.get(ref), commit, ref)
}

/** The refs after somebody made `shop/api` render, and a scan. */
async function repaired({ repository }: Scanned): Promise<ReadonlyMap<string, string>> {
  await repository.repair()
  const { stderr } = await repository.scan('--no-exit-code')
  assert.doesNotMatch(stderr, /^error /m)
  return repository.refs()
}

describe('a repository on which a Porch server acted', () => {
  it('before: an open proposal stays open', async () => {
    const scan = await scanned('before')
    assert.equal(scan.closed.size, 0)
    assert.equal(scan.refs.get('refs/heads/main'), scan.before.get('refs/heads/main'))
    assert.ok(scan.refs.has('refs/heads/proposed/apps/web/drift-d7fdca7c'))
    await assertQuiet(scan)
  })

  it('approved-adopt: v2 is the merged decision, and its record is on the base branch', async () => {
    const scan = await scanned('approved-adopt')
    const { status, spec } = assertApproved(scan, 'd7fdca7c', 'apps/web/v2')
    assert.equal(spec.plan, 'Mixed')
    assert.equal(status.altered, undefined)
    assert.match(
      (await landedRecord(scan, 'apps--web', 'd7fdca7c')) ?? '',
      /^# \+argocd:skip-file-rendering\n[\s\S]*lifecycle: Proposed/,
    )
    assert.equal(
      await scan.repository.git('rev-parse', 'main^'),
      scan.before.get('refs/heads/main'),
    )
    await assertQuiet(scan)
  })

  it('approved-restore: the decision is Restore, and it waits for the apply of the syncer', async () => {
    const scan = await scanned('approved-restore')
    assert.equal(assertApproved(scan, '778ccd17', 'infra/net/dns/v2').spec.plan, 'Restore')
    assert.match(
      scan.said,
      /infra\/net\/dns in prod: 1 change is decided by drift-778ccd17 \(v2\): it waits until the merged change is applied/,
    )
    assert.ok(await landedRecord(scan, 'infra--net--dns', '778ccd17'))
    assert.ok(
      ![...scan.refs.keys()].some((ref) => /heads\/(drafts|proposed)\/infra/.test(ref)),
      'the decided drift is proposed again',
    )
    await assertQuiet(scan)
  })

  it('approved-settle: Backporch writes the decision to the cluster', async () => {
    const scan = await scanned('approved-settle')
    assert.equal(assertApproved(scan, '778ccd17', 'infra/net/dns/v2').status.altered, undefined)
    assert.match(
      (await landedRecord(scan, 'infra--net--dns', '778ccd17')) ?? '',
      /settle: backporch/,
    )
    const { stdout, stderr } = await scan.repository.scan('--dry-run', '--no-exit-code')
    assert.match(`${stdout}${stderr}`, /apply 1 approved change of drift-778ccd17 to prod/)
    await assertQuiet(scan)
  })

  it('lost-update: reports that an earlier state was published, and the remaining difference is drift again', async () => {
    const scan = await scanned('lost-update', ['replicas: 5', 'replicas: 7'])
    assert.equal(
      assertApproved(scan, 'd7fdca7c', 'apps/web/v2').status.altered,
      'its record is not the last one that backporch pushed',
    )
    assert.match(
      scan.said,
      /drift-d7fdca7c was approved through Porch as v2 by admin; it is not what was proposed/,
    )
    const again = [...scan.refs.keys()].find((ref) =>
      ref.startsWith('refs/heads/drafts/apps/web/drift-'),
    )
    assert.ok(
      again !== undefined && !again.endsWith('d7fdca7c'),
      'the rest is not recorded under a name of its own',
    )
    assert.match(
      await scan.repository.git('log', '-1', '--format=%B', again),
      /spec\.replicas {2}5 → 7/,
    )
    await assertQuiet(scan)
  })

  it('rejected: the proposal is declined and silenced, and its branch is deleted', async () => {
    const scan = await scanned('rejected')
    const status = scan.closed.get('7fbc9968')?.status
    assert.equal(status?.outcome, 'Declined')
    assert.equal(status?.reason, 'the proposal was rejected through Porch')
    assert.equal(status?.silentUntil?.slice(0, 10), '2026-12-22')
    assert.ok(
      ![...scan.refs.keys()].some((ref) => /heads\/(drafts|proposed)\/shop\/api\//.test(ref)),
    )
    await assertQuiet(scan)
    const refs = await repaired(scan)
    assert.ok(
      ![...refs.keys()].some((ref) => /heads\/(drafts|proposed)\/shop\/api\//.test(ref)),
      'the rejected drift is recorded again',
    )
  })

  it('warn-draft-proposed: the draft is recorded as proposed by that person', async () => {
    const scan = await scanned('warn-draft-proposed')
    assert.match(scan.said, /drift-7fbc9968 was proposed through Porch by admin/)
    await assertQuiet(scan)
    const refs = await repaired(scan)
    const ref = 'refs/heads/proposed/shop/api/drift-7fbc9968'
    assert.match(
      (await scan.repository.file(ref, '.drift/records/prod/shop--api/20261122-7fbc9968.record')) ??
        '',
      /lifecycle: Proposed/,
    )
    assert.match(
      (await scan.repository.file('drift-ledger', 'clusters/prod/shop--api/report.yaml')) ?? '',
      /lifecycle: Proposed/,
    )
    assert.ok(![...refs.keys()].some((name) => name.startsWith('refs/heads/drafts/shop/api/')))
    await assertQuiet({ ...scan, refs })
  })

  it('warn-draft-approved: publishing a draft decides nothing, and the drift is recorded again', async () => {
    const scan = await scanned('warn-draft-approved')
    const { outcome, decidedBy, revision } = scan.closed.get('7fbc9968')?.status ?? {}
    assert.deepEqual(
      { outcome, decidedBy, revision },
      { outcome: 'Published', decidedBy: 'admin <admin>', revision: 'v2' },
    )
    assert.match(
      scan.said,
      /drift-7fbc9968 was published through Porch as v2 by admin, and it is a draft: nothing is decided/,
    )
    await assertQuiet(scan)
    const refs = await repaired(scan)
    const drafts = [...refs.keys()].filter((ref) => ref.startsWith('refs/heads/drafts/shop/api/'))
    assert.equal(drafts.length, 1)
    assert.notEqual(drafts[0], 'refs/heads/drafts/shop/api/drift-7fbc9968')
    await assertQuiet({ ...scan, refs })
  })

  it('leftover-branch: an approval through separate commits is recognised, and its leftover branch deleted', async () => {
    const scan = await scanned('leftover-branch')
    assert.equal(assertApproved(scan, 'ca3646a1', 'infra/net/dns/v2').spec.plan, 'Restore')
    assert.ok(await landedRecord(scan, 'infra--net--dns', 'ca3646a1'))
    assert.ok(!scan.refs.has('refs/heads/proposed/infra/net/dns/drift-ca3646a1'))
    await assertQuiet(scan)
  })

  it('moved-tag: reports once an adoption that a later folder replacement undid, and the drift returns', async () => {
    const scan = await scanned('moved-tag', ['replicas: 5', 'replicas: 7'])
    const undoing = scan.before.get('refs/heads/main') ?? ''
    assert.match(
      scan.said,
      /AdoptionUndone: drift-2d552168 \(v2\) adopted spec\.replicas of Deployment shop\/web, and 4259640 by admin removed it from git again/,
    )
    const { commit, undone, decidedBy } = scan.closed.get('2d552168')?.status ?? {}
    assert.match(commit ?? '', /^b146b30/)
    assert.equal(decidedBy, 'Ada <ada@example.com>')
    assert.deepEqual(undone, { how: 'AdoptionUndone', commit: undoing, by: 'admin <admin>' })
    const again = [...scan.refs.keys()].filter((ref) =>
      ref.startsWith('refs/heads/drafts/apps/web/drift-'),
    )
    assert.equal(again.length, 1)
    assert.match(
      await scan.repository.git('log', '-1', '--format=%B', again[0] ?? ''),
      /spec\.replicas {2}3 → 7/,
    )
    await assertQuiet(scan)
    const { stdout } = await scan.repository.run('history')
    assert.match(stdout, /mixed \(undone\) +Ada .* b146b30/)
    const { stdout: second } = await scan.repository.scan('--no-exit-code')
    assert.doesNotMatch(second, /AdoptionUndone/)
  })

  it('moved-tag: reports a moved tag once when live no longer has the adopted value', async () => {
    const scan = await scanned('moved-tag', ['replicas: 5', 'replicas: 3'])
    assert.match(
      scan.said,
      /the tag apps\/web\/v2, which published drift-2d552168, was moved to 4259640 by admin/,
    )
    assert.equal(scan.closed.get('2d552168')?.status.undone?.how, 'TagMoved')
    await assertQuiet(scan)
  })

  it('slash-names: compares a package with a slash in its name', async () => {
    const scan = await scanned('slash-names')
    assert.match(
      (await scan.repository.file('drift-ledger', 'clusters/prod/apps--web/report.yaml')) ?? '',
      /state: Drifted/,
    )
    await assertQuiet(scan)
  })
})
