/** renovatebot/renovate#5391, #8312, #12734: a branch has the name of a folder of ours, and tags have the names of our branches. */
import { policy } from '../../e2e/packages.ts'
import type { Lab, ReportCase } from '../lab.ts'
import { configMap } from '../manifests.ts'
import { say } from '../proposals.ts'

export const reported: ReportCase = {
  right:
    'a branch in the way is named by what to do about it; tags with the names of our branches do no harm',
  before: 'the remedy is about branch protection',
  async run(lab) {
    await lab.repository({
      'pkg/c.yaml': configMap(lab.namespace, 'a: "1"'),
      ...policy('mode: Propose\ndetect: {minAge: 0s, settle: 0s}'),
    })
    await lab.serverSide()
    await lab.patch('configmap/c', { data: { a: '2' } })
    for (const branch of ['drafts', 'proposed', 'drift-ledger/old']) {
      await lab.world.remote('branch', branch, 'main')
      const scan = await lab.backporch('scan', 'pkg')
      const fix = /fix: .*/.exec(scan.stdout + scan.stderr)?.[0]
      const isRight = scan.code === 1 ? await isProposed(lab) : fix?.includes(branch) === true
      lab.check(branch, isRight, fix ?? say(scan))
      await lab.world.remote('branch', '-D', branch)
      await lab.forget()
    }
    await lab.backporch('scan', 'pkg')
    const name = await lab.proposed()
    await lab.forget()
    for (const tag of [name, 'drift-ledger', 'main']) await lab.world.remote('tag', tag, 'main')
    const runs = [
      await lab.backporch('scan', 'pkg'),
      await lab.backporch('adopt', 'pkg'),
      await lab.backporch('approve', 'pkg', '--yes'),
    ]
    const text = await lab.world.show('refs/heads/main', 'pkg/c.yaml')
    lab.check('tags', /a: "2"/.test(text), /a: "2"/.test(text) ? 'tags do no harm' : runs.map(say))
  },
}

async function isProposed(lab: Lab): Promise<boolean> {
  return (await lab.world.proposals()).some((name) => name.startsWith('proposed/'))
}
