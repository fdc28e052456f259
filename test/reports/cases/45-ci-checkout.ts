/** XenitAB/gitops-promotion#116, actions/checkout#773: a detached HEAD, and branches that are only in refs/remotes. */
import { join } from 'node:path'
import { type Lab, type ReportCase, tell } from '../lab.ts'
import { configMap } from '../manifests.ts'

const ALL = '+refs/heads/*:refs/remotes/origin/*'
const MERGE = 'refs/remotes/pull/5/merge'
/** The git commands of the runners, in a folder with an `origin`. */
const CHECKOUTS: Readonly<Record<string, readonly string[]>> = {
  'GitHub push': [
    `fetch --no-tags origin ${ALL}`,
    'checkout --force -B main refs/remotes/origin/main',
  ],
  'GitHub pull request, full': [
    `fetch --prune origin ${ALL} +refs/tags/*:refs/tags/* +refs/pull/5/merge:${MERGE}`,
    `checkout --force ${MERGE}`,
  ],
  'GitHub pull request, shallow': [
    `fetch --no-tags --depth=1 origin +refs/pull/5/merge:${MERGE}`,
    `checkout --force ${MERGE}`,
  ],
  GitLab: [
    'fetch origin +refs/heads/main:refs/remotes/origin/main',
    'checkout --detach refs/remotes/origin/main',
  ],
  Jenkins: [`fetch origin ${ALL}`, 'checkout -f refs/remotes/origin/main'],
  Tekton: ['fetch --depth=1 origin main', 'checkout FETCH_HEAD'],
  'detached beside main': [
    `fetch origin ${ALL}`,
    'checkout -B main refs/remotes/origin/main',
    'checkout --detach',
  ],
}

export const reported: ReportCase = {
  right: 'diff finds the edit in the seven checkouts that runners of CI make',
  before: 'six of seven: exit 2, "the repository has no commit yet"',
  async run(lab) {
    await lab.files({ 'c.yaml': configMap(lab.namespace, 'a: "1"') })
    await lab.serverSide()
    await lab.patch('configmap/c', { data: { a: '2' } })
    await pullRequest(lab)
    for (const [index, [runner, commands]] of Object.entries(CHECKOUTS).entries()) {
      const folder = join(lab.world.folder, `checkout${index}`)
      await lab.world.git('init', '--quiet', folder)
      await lab.world.git('-C', folder, 'remote', 'add', 'origin', `file://${lab.world.repository}`)
      for (const command of commands) await lab.world.git('-C', folder, ...command.split(' '))
      const diff = await lab.diffIn(folder)
      const isFound = diff.code === 1 && diff.lines.length === 1
      lab.check(runner, isFound, isFound ? 'exit 1, one line' : tell(diff))
      const named = await lab.diffIn(folder, '--branch', 'main')
      const isNamed =
        named.code === 1 ||
        (named.code === 2 && !hasMain(await lab.world.git('-C', folder, 'for-each-ref')))
      lab.check(
        `${runner}, --branch main`,
        isNamed,
        named.code === 1 ? 'exit 1, one line' : tell(named),
      )
    }
  },
}

function hasMain(refs: string): boolean {
  return /\trefs\/(heads|remotes\/origin)\/main$/m.test(refs)
}

/** Number 5, of a branch that touches a comment, as GitHub keeps its head and its merge. */
async function pullRequest(lab: Lab): Promise<void> {
  const { world } = lab
  await world.git('checkout', '--quiet', '-b', 'feature')
  world.write('pkg/c.yaml', `${world.read('pkg/c.yaml')}# later\n`)
  await world.git('commit', '--quiet', '--all', '--message', 'feature')
  await world.git('push', '--quiet', 'origin', 'feature', 'feature:refs/pull/5/head')
  await world.git('checkout', '--quiet', 'main')
  await world.git('merge', '--quiet', '--no-ff', '--message', 'merged', 'feature')
  await world.git('push', '--quiet', 'origin', 'main:refs/pull/5/merge')
  await world.git('reset', '--quiet', '--hard', 'origin/main')
}
