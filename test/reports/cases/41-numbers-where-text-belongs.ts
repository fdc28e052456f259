/** Sibling of kubernetes/kubernetes#94275: `value: 8080`, an annotation `true`, `data: 5`. */
import { type ReportCase, tell } from '../lab.ts'
import { configMap, deployment } from '../manifests.ts'

export const reported: ReportCase = {
  right:
    'an object with a number where text belongs is blocked with its place, and the rest is compared',
  before: 'right',
  async run(lab) {
    const web = (port: string): string =>
      deployment(lab.namespace, { container: `env: [{name: PORT, value: ${port}}]` })
    await lab.files({
      'web.yaml': web('"8080"'),
      'c.yaml': configMap(lab.namespace, 'a: "1"'),
      'd.yaml': configMap(lab.namespace, 'a: "1"', 'd'),
    })
    await lab.serverSide()
    lab.checkQuiet('before', await lab.diff())
    const annotated = configMap(lab.namespace, 'a: "1"', 'd').replace(
      '{name: d',
      '{annotations: {scrape: true}, name: d',
    )
    await lab.files({ 'web.yaml': web('8080'), 'd.yaml': annotated })
    await lab.patch('configmap/c', { data: { a: '2' } })
    const diff = await lab.diff()
    const [line, ...more] = diff.lines
    lab.check(
      'the rest',
      more.length === 0 && line?.includes('ConfigMap/c data.a "1" -> "2"') === true,
      tell(diff),
    )
    const said = await lab.told()
    lab.check(
      'blocked',
      diff.code === 3 && ['pkg/web.yaml', 'pkg/d.yaml'].every((place) => said.includes(place)),
      said,
    )
    await lab.files({ 'c.yaml': configMap(lab.namespace, 'a: 5') })
    const all = await lab.diff()
    lab.check('data: 5', [2, 3].includes(all.code) && all.lines.length === 0, tell(all))
  },
}
