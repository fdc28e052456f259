/** argoproj/argo-cd#8811, #2600, #7156, #15467: two packages declare one object with different values. */
import { kptfile } from '../../e2e/packages.ts'
import { type ReportCase, tell } from '../lab.ts'
import { configMap } from '../manifests.ts'

export const reported: ReportCase = {
  right: "one object of two packages is said with both places, and is nobody's edit",
  before: 'a line "by sync" in the package that applied first',
  async run(lab) {
    await lab.repository({
      'pkg/shared.yaml': configMap(lab.namespace, 'a: "1"', 'shared'),
      'pkg/own.yaml': configMap(lab.namespace, 'a: "1"', 'of-pkg'),
      'other/Kptfile': kptfile('other'),
      'other/shared.yaml': configMap(lab.namespace, 'a: "2"', 'shared'),
      'other/own.yaml': configMap(lab.namespace, 'a: "1"', 'of-other'),
    })
    for (const [first, last] of [
      ['', '../other'],
      ['../other', ''],
    ] as const) {
      await lab.serverSide({ file: first })
      await lab.serverSide({ file: last })
      // The repository has no other packages: no path means all of them.
      const diff = await lab.diff('pkg', 'other')
      const said = await lab.told('pkg', 'other')
      const isSaid = /pkg\/shared\.yaml/.test(said) && /other\/shared\.yaml/.test(said)
      lab.check(
        `${last || 'pkg'} applied last`,
        isSaid && diff.lines.length === 0 && diff.code === 3,
        `${tell(diff)} · ${said}`,
      )
    }
  },
}
