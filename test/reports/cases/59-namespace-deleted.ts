/** argoproj/argo-cd#17440, argocd-operator#478: the namespace of the package is deleted. */
import { waitUntil } from '../../waiting/wait-until.ts'
import { type ReportCase, tell } from '../lab.ts'
import { configMap } from '../manifests.ts'

export const reported: ReportCase = {
  right:
    'a deleted namespace is four objects missing, and three where the package has no Namespace',
  before: 'right',
  async run(lab) {
    const namespace = `${lab.namespace}-x`
    await lab.files({
      'ns.yaml': `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${namespace}}\n`,
    })
    await lab.serverSide()
    for (const name of ['one', 'two', 'three'])
      await lab.files({ [`${name}.yaml`]: configMap(namespace, 'a: "1"', name) })
    await lab.serverSide()
    lab.checkQuiet('before', await lab.diff())
    // Once nothing of it is there, only the ledger knows that it was applied.
    await lab.backporch('scan', 'pkg')
    await lab.kubectl('delete', 'namespace', namespace, '--wait=false')
    const look = (): Promise<string> =>
      lab.kubectl('get', 'namespace', namespace, '--ignore-not-found', '-o', 'name')
    await waitUntil('the namespace is gone', async () => (await look()) === '')
    const gone = await lab.diff()
    lab.check(
      'with the Namespace',
      gone.lines.length === 4 && gone.lines.every((line) => line.startsWith('missing ')),
      tell(gone),
    )
    await lab.files({ 'ns.yaml': null })
    const less = await lab.diff()
    lab.check(
      'without it',
      less.lines.length === 3 && less.lines.every((line) => line.startsWith('missing ')),
      tell(less),
    )
  },
}
