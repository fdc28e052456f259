/** renovatebot/renovate#2391, #3724: a person adds a commit to our branch, closes the pull request and deletes the branch. */
import type { Lab, ReportCase } from '../lab.ts'
import { asPerson, listPulls, onlyOpen, proposing, scan } from '../proposals.ts'

interface Variant {
  readonly name: string
  readonly commits: boolean
  readonly turn: boolean
  readonly deletes: boolean
}

const VARIANTS: readonly Variant[] = [
  { name: 'no commit, branch deleted', commits: false, turn: false, deletes: true },
  { name: 'a commit, a turn, branch kept', commits: true, turn: true, deletes: false },
  { name: 'a commit, a turn, branch deleted', commits: true, turn: true, deletes: true },
  { name: 'a commit, no turn, branch deleted', commits: true, turn: false, deletes: true },
]

export const reported: ReportCase = {
  right:
    'a close silences the drift, whoever had commits on the branch and whether or not the branch is gone',
  before: 'raised again at once in a new pull request',
  gitea: true,
  async run(lab) {
    await proposing(lab)
    for (const [index, variant] of VARIANTS.entries()) {
      await lab.patch('configmap/c', { data: { a: `${index + 2}` } })
      await expectSilence(lab, variant)
    }
  },
}

async function expectSilence(lab: Lab, { name, commits, turn, deletes }: Variant): Promise<void> {
  await scan(lab)
  const { number, branch } = await onlyOpen(lab)
  const content = Buffer.from('mine').toString('base64')
  if (commits)
    await asPerson(lab, 'POST', `/contents/pkg/${number}.md`, {
      branch,
      content,
      message: 'by a person',
    })
  if (turn) await scan(lab)
  await lab.review.fixture.human.close(number)
  if (deletes) await asPerson(lab, 'DELETE', `/branches/${encodeURIComponent(branch)}`)
  await scan(lab)
  await scan(lab)
  const open = await listPulls(lab, 'open')
  lab.check(name, open.length === 0, open.length === 0 ? 'silent' : open)
}
