/** renovatebot/renovate#3724, #990: people edit title, text and labels of a pull request of ours, or mark it as a draft. */
import type { ReportCase } from '../lab.ts'
import { asPerson, listPulls, onlyOpen, proposing, scan } from '../proposals.ts'

export const reported: ReportCase = {
  right:
    'an edited title and text are healed or kept, and tell the new drift; the draft mark of a person stays',
  before: 'the next turn removes WIP:',
  gitea: true,
  async run(lab) {
    await proposing(lab)
    await lab.patch('configmap/c', { data: { a: '2' } })
    await scan(lab)
    const { number } = await onlyOpen(lab)
    await asPerson(lab, 'PATCH', `/pulls/${number}`, {
      title: 'Hotfix of the night',
      body: 'people wrote this',
    })
    await asPerson(lab, 'DELETE', `/issues/${number}/labels`)
    await scan(lab)
    await lab.patch('configmap/c', { data: { b: '2' } })
    await scan(lab)
    const [pull] = await lab.review.pulls()
    const open = await listPulls(lab, 'open')
    const isHealed = open.length === 1 && /data\.b/.test(pull?.body ?? '')
    lab.check('text', isHealed, isHealed ? open : [...open, pull?.body ?? 'no pull request'])

    await asPerson(lab, 'PATCH', `/pulls/${number}`, { title: 'WIP: hold this' })
    await scan(lab)
    await lab.patch('configmap/c', { data: { b: '3' } })
    await scan(lab)
    const drafts = await listPulls(lab, 'open')
    lab.check('draft', drafts.length === 1 && /"WIP: /.test(drafts.join()), drafts)
  },
}
