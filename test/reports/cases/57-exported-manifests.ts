/** People commit what `kubectl get -o yaml` prints: uid, resourceVersion, status and managedFields are in git. */
import { waitUntil } from '../../waiting/wait-until.ts'
import { type Lab, type ReportCase, tell } from '../lab.ts'

export const reported: ReportCase = {
  right:
    'exported manifests are quiet, also after a restart; two edits are two lines, and Adopt writes just them',
  before: 'right',
  async run(lab) {
    await lab.in(
      'create',
      'deployment',
      'web',
      '--image=registry.example.com/web:1',
      '--replicas=0',
    )
    await lab.in('create', 'service', 'clusterip', 'web', '--tcp=80')
    await lab.in('create', 'configmap', 'c', '--from-literal=a=1')
    await seen(lab)
    const selector = '--field-selector=metadata.name!=kube-root-ca.crt'
    const exported = await lab.in(
      'get',
      'deployment,service,configmap',
      '-o',
      'yaml',
      '--show-managed-fields',
      selector,
    )
    await lab.files({ 'all.yaml': exported })
    lab.checkQuiet('just exported', await lab.diff())
    await lab.in('rollout', 'restart', 'deployment/web')
    await seen(lab)
    lab.checkQuiet('after a restart', await lab.diff())
    await lab.in('set', 'image', 'deployment/web', 'web=registry.example.com/web:2')
    await lab.patch('configmap/c', { data: { a: '2' } })
    const diff = await lab.diff()
    const all = diff.lines.join()
    lab.check(
      'two edits',
      diff.lines.length === 2 && /image/.test(all) && /data\.a/.test(all),
      tell(diff),
    )
    const { text, said } = await lab.adopt('all.yaml')
    const isAdopted =
      text ===
      exported
        .replace('image: registry.example.com/web:1', 'image: registry.example.com/web:2')
        .replace('a: "1"', 'a: "2"')
    lab.check('adopted', isAdopted, isAdopted ? 'adopted: just the two' : (text ?? said))
  },
}

async function seen(lab: Lab): Promise<void> {
  await waitUntil('the controller has seen the Deployment', async () => {
    const [now, last] = (
      await lab.in(
        'get',
        'deployment/web',
        '-o',
        'jsonpath={.metadata.generation} {.status.observedGeneration}',
      )
    ).split(' ')
    return now === last
  })
}
