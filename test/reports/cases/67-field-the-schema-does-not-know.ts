/** emqx/emqx-operator#306, kustomize-controller#333: a mistyped field, and a syncer that applies server-side. */
import { type ReportCase, tell } from '../lab.ts'
import { deployment } from '../manifests.ts'
import { say } from '../proposals.ts'

export const reported: ReportCase = {
  right:
    'a mistyped field, which the next server-side apply is refused for, is blocked: exit 3, with the field, also in status',
  before: 'InSync, exit 0, a note that -q hides',
  async run(lab) {
    await lab.files({ 'web.yaml': deployment(lab.namespace) })
    await lab.serverSide()
    lab.checkQuiet('before', await lab.diff())
    await lab.files({
      'web.yaml': deployment(lab.namespace, { container: 'imagePullPolice: Always' }),
    })
    const diff = await lab.diff('pkg', '-q')
    const said = await lab.told()
    lab.check(
      'blocked',
      diff.code === 3 && diff.lines.length === 0 && /imagePullPolice/.test(said),
      `${tell(diff)} · ${said}`,
    )
    await lab.backporch('scan', 'pkg')
    const status = await lab.backporch('status')
    lab.check('status', status.code === 3 && !/InSync/.test(status.stdout), say(status))
  },
}
