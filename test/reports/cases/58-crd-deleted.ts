/** Argo CD's ComparisonError: a person deletes a CustomResourceDefinition, and with it every object of the kind. */
import { waitUntil } from '../../waiting/wait-until.ts'
import { type ReportCase, tell } from '../lab.ts'
import { definition, served } from '../manifests.ts'

export const reported: ReportCase = {
  right:
    'a deleted CRD is missing, and its objects are gone with it: missing, or explained by the CRD',
  before: 'objects unreadable, "install what serves the kind", exit 3',
  async run(lab) {
    const group = `${lab.namespace}.example.com`
    const lamp = (name: string): string =>
      `apiVersion: ${group}/v1\nkind: Lamp\nmetadata: {name: ${name}, namespace: ${lab.namespace}}\nspec: {lit: true}\n`
    await lab.files({
      'crd.yaml': definition(group, 'Lamp', { lit: { type: 'boolean' } }),
      'one.yaml': lamp('one'),
      'two.yaml': lamp('two'),
    })
    await lab.serverSide({ file: 'crd.yaml' })
    await served(lab, group, 'Lamp')
    for (const file of ['one.yaml', 'two.yaml']) await lab.serverSide({ file })
    lab.checkQuiet('before', await lab.diff())
    await lab.backporch('scan', 'pkg')

    await lab.kubectl('delete', 'crd', `lamps.${group}`)
    await waitUntil(
      'Lamp is gone',
      async () => !(await lab.kubectl('api-resources', `--api-group=${group}`)).includes('Lamp'),
    )
    const diff = await lab.diff()
    lab.check(
      'the CRD',
      diff.lines.some((line) => line.startsWith('missing CustomResourceDefinition/')),
      tell(diff),
    )
    const lamps = diff.lines.filter((line) => line.startsWith('missing Lamp/'))
    const said = await lab.told()
    lab.check(
      'its objects',
      lamps.length === 2 || /(gone|deleted|went) with /.test(said),
      `${tell(diff)} · ${said}`,
    )
  },
}
