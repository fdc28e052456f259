/** kubernetes/kubectl#1064: the field that git gave up stays through its deprecated twin, and nobody owns it. */
import { type ReportCase, tell } from '../lab.ts'
import { deployment } from '../manifests.ts'

export const reported: ReportCase = {
  right:
    'a serviceAccountName that git gave up and that is still there is told, server-side and client-side',
  before: 'exit 0, nothing, also with --show-ignored',
  async run(lab) {
    for (const how of ['serverSide', 'clientSide'] as const) {
      await lab.files({
        'web.yaml': deployment(lab.namespace, { pod: 'serviceAccountName: power' }),
      })
      await lab.in('delete', 'deployment/web', '--ignore-not-found')
      await lab[how]()
      lab.checkQuiet(`${how}, before`, await lab.diff())
      await lab.files({ 'web.yaml': deployment(lab.namespace) })
      await lab[how]()
      const diff = await lab.diff()
      lab.check(
        `${how}, given up`,
        diff.code !== 0 && /serviceAccount/.test(diff.lines.join()),
        tell(diff),
      )
    }
  },
}
