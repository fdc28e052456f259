/** renovatebot/renovate#982, #1405: "Update branch" of a forge merges the base into our branch, or rebases it; no person edited it. */
import type { ReportCase } from '../lab.ts'
import { listPulls, proposing, scan } from '../proposals.ts'

export const reported: ReportCase = {
  right:
    'after "Update branch", by merge or rebase, the pull request is updated and withdrawn as before',
  before: 'frozen as "another author pushed", not withdrawn',
  gitea: true,
  async run(lab) {
    const { fixture } = lab.review
    await proposing(lab)
    for (const [style, value] of [
      ['merge', '2'],
      ['rebase', '7'],
    ] as const) {
      await lab.patch('configmap/c', { data: { a: value } })
      await scan(lab)
      const { number } = await lab.review.onlyOpen()
      await lab.repository({ 'README.md': style })
      const path = `${fixture.path}/pulls/${number}/update?style=${style}`
      const { status } = await fixture.gitea.request(fixture.writer.token, 'POST', path)
      lab.check(`the button, ${style}`, status === 200, `${status}`)
      await scan(lab)
      await lab.patch('configmap/c', { data: { b: value } })
      await scan(lab)
      const updated = await listPulls(lab, 'open')
      lab.check(
        `${style}: updated`,
        updated.length === 1 && /2 changes/.test(updated.join()),
        updated,
      )
      await lab.patch('configmap/c', { data: { a: '1', b: '1' } })
      await scan(lab)
      await scan(lab)
      const open = await listPulls(lab, 'open')
      lab.check(`${style}: withdrawn`, open.length === 0, open)
    }
  },
}
