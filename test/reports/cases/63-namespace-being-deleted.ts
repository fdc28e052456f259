/** argocd-operator#853, argo-cd#13216: somebody deletes an object, and a finalizer holds it. */
import { policy } from '../../e2e/packages.ts'
import { waitUntil } from '../../waiting/wait-until.ts'
import { type Lab, type ReportCase, tell } from '../lab.ts'
import { configMap } from '../manifests.ts'

const HOLD = { metadata: { finalizers: ['lab.example.com/hold'] } }
const LET_GO = { metadata: { finalizers: null } }
const AT_ONCE = 'mode: Propose\ndetect: {minAge: 0s, settle: 0s}'

export const reported: ReportCase = {
  right:
    'an object that somebody deleted and a finalizer holds is blocked or critical, and said as a deletion; Adopt writes nothing',
  before: 'low META "deletionTimestamp added", held for the digest, adopted into git',
  async run(lab) {
    await lab.repository(policy(AT_ONCE))
    for (const [index, labels] of ['', ', labels: {team: a}'].entries()) {
      const namespace = `${lab.namespace}-${index}`
      await lab.files({
        'object.yaml': `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${namespace}${labels}}\n`,
      })
      await lab.serverSide()
      await lab.pipe(
        configMap(namespace, 'a: "1"', 'hold').replace(
          '{name: hold',
          '{finalizers: [lab.example.com/hold], name: hold',
        ),
        'create',
        '-f',
        '-',
      )
      lab.checkQuiet(`Namespace${labels}, before`, await lab.diff())
      await lab.kubectl('delete', 'namespace', namespace, '--wait=false')
      await expectDeletion(lab, `Namespace${labels}`)
      await lab.patch('configmap/hold', LET_GO, { type: 'merge', namespace })
    }

    const account = `apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: app, namespace: ${lab.namespace}}\n`
    await held(lab, 'serviceaccount/app', account)
    await expectDeletion(lab, 'ServiceAccount')
    await lab.patch('serviceaccount/app', LET_GO, { type: 'merge' })

    await held(lab, 'configmap/c', configMap(lab.namespace, 'a: "1"'), { data: { a: '2' } })
    await expectDeletion(lab, 'edited and deleted')
    await lab.patch('configmap/c', LET_GO, { type: 'merge' })
  },
}

/** Applied, perhaps edited, held by a finalizer of a controller and deleted by a person. */
async function held(lab: Lab, object: string, text: string, edit?: object): Promise<void> {
  await lab.files({ 'object.yaml': text })
  await lab.serverSide()
  if (edit !== undefined) await lab.patch(object, edit)
  await lab.patch(object, HOLD, { type: 'merge', manager: 'some-controller' })
  await lab.in('delete', object, '--wait=false')
  await waitUntil(
    `${object} is being deleted`,
    async () =>
      (await lab.in('get', object, '-o', 'jsonpath={.metadata.deletionTimestamp}')) !== '',
  )
}

async function expectDeletion(lab: Lab, label: string): Promise<void> {
  const diff = await lab.diff()
  const said = await lab.told()
  const changes = (diff.list?.items ?? []).flatMap(({ spec }) => spec.changes)
  const isField = changes.some(({ path }) => path?.includes('deletionTimestamp') === true)
  const isStrong = diff.code === 3 || changes.some(({ risk }) => risk === 'critical')
  lab.check(label, isStrong && !isField && /delet/i.test(said), `${tell(diff)} · ${said}`)
  const { text } = await lab.adopt('object.yaml')
  lab.check(
    `${label}, adopted`,
    text?.includes('deletionTimestamp') !== true,
    text ?? 'nothing is adopted',
  )
  await lab.forget()
}
