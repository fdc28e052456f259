/** kubernetes/kubernetes#99003, fluxcd/pkg#209: a tool takes over what kubectl applied, git drops a key, and the key stays. */
import { type Lab, type ReportCase, tell } from '../lab.ts'
import { configMap } from '../manifests.ts'

const NO_MANAGERS = { metadata: { managedFields: [{}] } }

export const reported: ReportCase = {
  right:
    'a key that git dropped and that stays is told as added, whoever owned it before; also one that git never had',
  before: 'before-first-apply, git had it: Behind, exit 0',
  async run(lab) {
    await write(lab, 'key: value, legacy: unused')
    await lab.clientSide('c.yaml')
    await applyAsFlux(lab, 'key: value, legacy: unused')
    lab.checkQuiet('both own it', await lab.diff())
    await write(lab, 'key: value')
    await applyAsFlux(lab, 'key: value')
    await expectAdded(lab, 'kubectl-client-side-apply', 'legacy')

    await lab.in('delete', 'configmap/c')
    await write(lab, 'key: value, other: x')
    await lab.kubectl('create', '-f', lab.path('c.yaml'))
    await lab.patch('configmap/c', NO_MANAGERS, { type: 'merge' })
    await write(lab, 'key: value, third: "3"')
    await write(lab, 'key: value')
    await applyAsFlux(lab, 'key: value')
    await expectAdded(lab, 'before-first-apply, git had it', 'other')

    await lab.in('delete', 'configmap/c')
    await lab.pipe(configMap(lab.namespace, 'key: value, never: unused'), 'create', '-f', '-')
    await lab.patch('configmap/c', NO_MANAGERS, { type: 'merge' })
    await applyAsFlux(lab, 'key: value')
    await expectAdded(lab, 'before-first-apply, git never had it', 'never')
  },
}

async function write(lab: Lab, data: string): Promise<void> {
  await lab.files({ 'c.yaml': configMap(lab.namespace, data) })
}

/** Past kubectl, which would take the entries of its own client-side apply over. */
async function applyAsFlux(lab: Lab, data: string): Promise<void> {
  const path = `/api/v1/namespaces/${lab.namespace}/configmaps/c?fieldManager=flux&force=true`
  await lab.applyPatch(path, configMap(lab.namespace, data))
}

async function expectAdded(lab: Lab, label: string, key: string): Promise<void> {
  const diff = await lab.diff()
  lab.check(
    label,
    diff.code === 1 &&
      diff.lines.length === 1 &&
      diff.lines.join().startsWith(`added ConfigMap/c data.${key}`),
    tell(diff),
  )
}
