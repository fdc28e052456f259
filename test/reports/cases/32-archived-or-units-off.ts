/** renovatebot/renovate, "410 Gone": issues are off, pull requests are off, the repository is archived. */
import type { ReportCase } from '../lab.ts'
import { asOwner, listPulls, proposing, say, scan } from '../proposals.ts'

/** The first is off before there is anything to read. */
const SETTINGS = [
  ['has_pull_requests', true, /pull requests are (turned )?off/],
  ['has_issues', true, /issues are (turned )?off/],
  ['has_pull_requests', true, /pull requests are (turned )?off/],
  ['archived', false, /it is archived/],
] as const

export const reported: ReportCase = {
  right:
    'issues off, pull requests off and archived are each said in a sentence, and it goes on once they are back',
  before: 'off: "not there, or the token may not see it"',
  gitea: true,
  async run(lab) {
    await proposing(lab)
    for (const [index, [setting, usual, words]] of SETTINGS.entries()) {
      await lab.patch('configmap/c', { data: { a: `${index + 2}` } })
      await asOwner(lab, 'PATCH', '', { [setting]: !usual })
      const run = await scan(lab)
      lab.check(setting, words.test(say(run)), say(run))
      await asOwner(lab, 'PATCH', '', { [setting]: usual })
      const back = await scan(lab)
      const open = await listPulls(lab, 'open')
      lab.check(`${setting}, as before`, back.code === 1 && open.length === 1, [...open, say(back)])
    }
  },
}
