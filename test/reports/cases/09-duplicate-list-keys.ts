/** kubernetes/kubernetes#121575, #134167: names of env and ports twice, which create and a client-side apply accept. */
import { type ReportCase, tell } from '../lab.ts'
import { deployment } from '../manifests.ts'

const ENV = '/spec/template/spec/containers/0/env'
const ALIAS = '/spec/template/spec/hostAliases/1/hostnames/0'
const ALIASES =
  'hostAliases: [{ip: 192.0.2.1, hostnames: [one]}, {ip: 192.0.2.1, hostnames: [two]}]'

export const reported: ReportCase = {
  right:
    'an entry that git has twice is quiet, created or applied client-side; an edit of either, and one taken away, is told once',
  before: 'created: a false critical line; applied: edits of either are exit 0',
  async run(lab) {
    const container = [
      'ports: [{containerPort: 93, hostPort: 9376}, {containerPort: 93, hostPort: 7693}]',
      'env: [{name: WHO, value: one}, {name: WHO, value: one-more}, {name: WHERE, value: here}]',
    ]
    await lab.files({
      'web.yaml': deployment(lab.namespace, { pod: ALIASES, container: container.join(', ') }),
    })
    for (const how of ['create', 'apply']) {
      const anew = async (): Promise<void> => {
        await lab.in('delete', 'deployment/web', '--ignore-not-found')
        await lab.kubectl(how, '-f', lab.path('web.yaml'))
      }
      await anew()
      lab.checkQuiet(`${how}, untouched`, await lab.diff())
      for (const [index, value] of ['first', 'second'].entries()) {
        await anew()
        await lab.patch(
          'deployment/web',
          [{ op: 'replace', path: `${ENV}/${index}/value`, value }],
          { type: 'json' },
        )
        const diff = await lab.diff()
        lab.check(
          `${how}, the ${value} edited`,
          diff.lines.length === 1 && diff.lines.join().includes(value),
          tell(diff),
        )
      }
      await anew()
      await lab.patch('deployment/web', [{ op: 'replace', path: ALIAS, value: 'third' }], {
        type: 'json',
      })
      const aliased = await lab.diff()
      lab.check(
        `${how}, an alias edited`,
        aliased.lines.length === 1 && aliased.lines.join().includes('third'),
        tell(aliased),
      )
      await anew()
      await lab.patch('deployment/web', [{ op: 'remove', path: `${ENV}/1` }], { type: 'json' })
      const diff = await lab.diff()
      lab.check(
        `${how}, one taken away`,
        diff.lines.length === 1 && /WHO/.test(diff.lines.join()),
        tell(diff),
      )
    }
  },
}
