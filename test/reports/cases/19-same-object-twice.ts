/** Argo CD's RepeatedResourceWarning: one object twice in one package. */
import type { Lab, ReportCase } from '../lab.ts'
import { configMap } from '../manifests.ts'

export const reported: ReportCase = {
  right:
    'one object in two files, with and without its namespace, or in two versions, is refused with both places',
  before: 'right',
  async run(lab) {
    const { namespace } = lab
    await lab.files({
      'a.yaml': configMap(namespace, 'a: "1"'),
      'b.yaml': configMap(namespace, 'a: "2"'),
    })
    await lab.serverSide()
    await expectRefused(lab, 'in two files', ['pkg/a.yaml', 'pkg/b.yaml'])

    const bare = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${namespace}}\ndata: {a: "1"}\n`
    await lab.files({ 'a.yaml': bare, 'b.yaml': configMap('default', 'a: "2"', namespace) })
    await lab.serverSide()
    await expectRefused(lab, 'once without a namespace', ['pkg/a.yaml', 'pkg/b.yaml'])
    await lab.kubectl('delete', 'configmap', namespace, '--namespace=default')

    const inVersion = (version: string): string => `apiVersion: ${version}
kind: Deployment
metadata: {name: web, namespace: ${namespace}}
spec:
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "i:1"}]}}
`
    await lab.files({ 'a.yaml': inVersion('apps/v1'), 'b.yaml': inVersion('apps/v1beta1') })
    await lab.serverSide({ file: 'a.yaml' })
    await expectRefused(lab, 'in two versions', ['pkg/a.yaml', 'pkg/b.yaml'])
  },
}

async function expectRefused(lab: Lab, label: string, places: readonly string[]): Promise<void> {
  const { code, lines } = await lab.diff()
  const said = await lab.told()
  const isRefused =
    [2, 3].includes(code) && lines.length === 0 && places.every((place) => said.includes(place))
  lab.check(label, isRefused, `exit ${code} · ${said}`)
}
