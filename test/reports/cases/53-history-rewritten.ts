/** Clean-up jobs and a force-pushed main: the base branch is squashed, the ledger is deleted or overwritten. */
import type { Lab, ReportCase } from '../lab.ts'
import { listPulls, onlyOpen, proposing, say, scan } from '../proposals.ts'

export const reported: ReportCase = {
  right:
    'with main squashed, and the ledger deleted and overwritten, it goes on with one open pull request',
  before: 'right',
  gitea: true,
  async run(lab) {
    const { world, review } = lab
    const push = (...args: readonly string[]): Promise<void> =>
      review.git('push', '--quiet', '--force', review.address, ...args)
    await proposing(lab)
    await lab.patch('configmap/c', { data: { a: '2' } })
    await scan(lab)
    const squashed = await world.remote(
      '-c',
      'user.name=a',
      '-c',
      'user.email=a@example.com',
      'commit-tree',
      'main^{tree}',
      '-m',
      'squashed',
    )
    await push(`${squashed}:refs/heads/main`)
    await expectOne(lab, 'main squashed')
    await push('--delete', 'drift-ledger')
    await expectOne(lab, 'the ledger deleted')
    await review.fixture.human.close((await onlyOpen(lab)).number)
    await scan(lab)
    await push('--delete', 'drift-ledger')
    await expectOne(lab, 'the ledger deleted after a close')
    await push('main:drift-ledger')
    await expectOne(lab, 'the ledger overwritten')
  },
}

async function expectOne(lab: Lab, label: string): Promise<void> {
  const runs = [await scan(lab), await scan(lab)]
  const open = await listPulls(lab, 'open')
  lab.check(label, open.length === 1, open.length === 1 ? 'one open' : [...open, ...runs.map(say)])
}
