/** renovatebot/renovate#27960: a pull request is closed, a turn goes by, and a person opens it again. */
import type { ReportCase } from '../lab.ts'
import { listPulls, onlyOpen, proposing, scan } from '../proposals.ts'

export const reported: ReportCase = {
  right:
    'a reopened pull request is taken up, with its branch, or it is told why not; no comment promises what does not happen',
  before: 'open without a branch, and the drift stays silent',
  gitea: true,
  async run(lab) {
    await proposing(lab)
    await lab.patch('configmap/c', { data: { a: '2' } })
    await scan(lab)
    const { number } = await onlyOpen(lab)
    await lab.review.fixture.human.close(number)
    await scan(lab)
    const before = await lab.review.comments(number)
    const reopened = await lab.review.fixture.human.reopen(number).then(
      () => true,
      () => false,
    )
    for (let turn = 0; turn < 2; turn += 1) await scan(lab)
    const refs = await lab.world.refs()
    const open = (await lab.review.pulls()).filter(({ state }) => state === 'open')
    const isTakenUp =
      open.length === 1 && open.every(({ head }) => refs.has(`refs/heads/${head.label}`))
    const told = (await lab.review.comments(number)).slice(before.length)
    const seen = [
      `the forge ${reopened ? 'reopens it' : 'does not reopen it'}`,
      ...(await listPulls(lab)),
      ...told,
    ]
    lab.check('reopened', isTakenUp || told.length > 0, [
      ...seen,
      ...before.map((text) => `comment at the close: ${text}`),
    ])
  },
}
