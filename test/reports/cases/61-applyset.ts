/** kubernetes/enhancements#3659: `kubectl apply --prune --applyset` labels every object. */
import { type ReportCase, tell } from '../lab.ts'
import { configMap } from '../manifests.ts'

export const reported: ReportCase = {
  right:
    'the label of an ApplySet is the mark of its syncer: quiet, server-side and client-side; one edit is one line',
  before: 'a line for each object, its value hidden as a credential',
  async run(lab) {
    await lab.files({
      'c.yaml': configMap(lab.namespace, 'a: "1"'),
      'd.yaml': configMap(lab.namespace, 'a: "1"', 'd'),
    })
    process.env['KUBECTL_APPLYSET'] = 'true'
    try {
      for (const how of [['--server-side'], []]) {
        await lab.in('delete', 'configmap,secret', '--all')
        const files = ['-f', lab.path('c.yaml'), '-f', lab.path('d.yaml')]
        await lab.in('apply', ...how, '--prune', '--applyset=secrets/set', ...files)
        lab.checkQuiet(how[0] ?? 'client-side', await lab.diff())
      }
    } finally {
      delete process.env['KUBECTL_APPLYSET']
    }
    await lab.patch('configmap/c', { data: { a: '2' } })
    const diff = await lab.diff()
    lab.check('one edit', diff.lines.length === 1 && /data\.a/.test(diff.lines.join()), tell(diff))
  },
}
