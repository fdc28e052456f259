/** argoproj/argo-cd#6404, fluxcd/flux#854: `kubectl rollout undo` makes live what an older commit said. */
import { waitUntil } from '../../waiting/wait-until.ts'
import { type Lab, type ReportCase, tell } from '../lab.ts'
import { deployment } from '../manifests.ts'

export const reported: ReportCase = {
  right:
    'kubectl rollout undo is drift of a person, four lines, although an older commit says the same; what an apply leaves of it is told',
  before: 'right',
  async run(lab) {
    for (const how of ['serverSide', 'clientSide'] as const) {
      await lab.in('delete', 'deployment/web', '--ignore-not-found')
      for (const [version, own] of [
        ['1', 'OLD'],
        ['2', 'NEW'],
      ] as const) {
        const container = `env: [{name: V, value: "${version}"}, {name: ${own}, value: x}]`
        await lab.files({
          'web.yaml': deployment(lab.namespace, {
            image: `registry.example.com/web:${version}`,
            container,
          }),
        })
        await lab[how]()
        await rolledOut(lab)
      }
      lab.checkQuiet(`${how}, before`, await lab.diff())
      await lab.in('rollout', 'undo', 'deployment/web')
      await rolledOut(lab)
      const undone = await lab.diff()
      lab.check(
        `${how}, undone`,
        undone.code === 1 &&
          undone.lines.length === 4 &&
          undone.lines.every((line) => / by kubectl/.test(line)),
        tell(undone),
      )
      await lab[how]()
      await rolledOut(lab)
      // The apply does not own what the older commit had more of.
      const left = await lab.diff()
      const isLeft =
        left.lines.length === 1 && /^added .*\[name=OLD\].* by kubectl/.test(left.lines.join())
      lab.check(`${how}, applied again`, left.code === 1 && isLeft, tell(left))
    }
  },
}

async function rolledOut(lab: Lab): Promise<void> {
  await waitUntil('the controller has seen the Deployment', async () => {
    const [now, seen] = (
      await lab.in(
        'get',
        'deployment/web',
        '-o',
        'jsonpath={.metadata.generation} {.status.observedGeneration}',
      )
    ).split(' ')
    return now === seen
  })
}
