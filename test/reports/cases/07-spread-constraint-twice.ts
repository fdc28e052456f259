/** kubernetes/kubernetes#118725: a person edits a key field of a list entry; an apply then leaves both entries. */
import { type ReportCase, tell } from '../lab.ts'
import { deployment } from '../manifests.ts'

export const reported: ReportCase = {
  right:
    'an edited key field is one entry removed and one added; after an apply the left-over stays drift; Adopt writes what is live',
  before: 'right',
  async run(lab) {
    const constraint =
      '{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}'
    await lab.files({
      'web.yaml': deployment(lab.namespace, { pod: `topologySpreadConstraints: [${constraint}]` }),
    })
    await lab.serverSide()
    lab.checkQuiet('before', await lab.diff())
    await lab.replace('deployment/web', (text) =>
      text.replaceAll('DoNotSchedule', 'ScheduleAnyway'),
    )
    const edited = await lab.diff()
    const changes = edited.lines.map((line) => line.split(' ', 1)[0])
    lab.check('removed and added', changes.join() === 'added,removed', tell(edited))

    await lab.serverSide()
    const left = await lab.diff()
    lab.check(
      'left over',
      left.lines.length === 1 && /^added.*ScheduleAnyway/.test(left.lines.join()),
      tell(left),
    )

    await lab.replace('deployment/web', (text) => {
      const object = JSON.parse(text)
      const pod = object.spec.template.spec
      type Constraint = { readonly whenUnsatisfiable: string }
      pod.topologySpreadConstraints = pod.topologySpreadConstraints.filter(
        (one: Constraint) => one.whenUnsatisfiable !== 'DoNotSchedule',
      )
      return JSON.stringify(object)
    })
    const { text, said } = await lab.adopt('web.yaml')
    const change = text === undefined ? said : await lab.wouldChange(text)
    lab.check(
      'adopted',
      text !== undefined && change === '',
      change === '' ? 'adopted is live' : change,
    )
  },
}
