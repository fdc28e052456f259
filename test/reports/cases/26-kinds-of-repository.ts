/** isomorphic-git#2231, git worktrees, alternates, partial clones, bundles: twelve repositories that people have. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Lab, type ReportCase, tell } from '../lab.ts'
import { configMap } from '../manifests.ts'
import { say } from '../proposals.ts'

/** Git commands in the folder of the world; `R` is the repository, `D` the folder that the kind is tried in. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  'shallow and detached': [
    'clone --depth=1 file://R D',
    '-C D checkout --detach',
    '-C D branch -D main',
  ],
  worktree: ['clone R D-base', '-C D-base worktree add D -b feature'],
  'partial clone': [
    '-C R config uploadpack.allowFilter true',
    'clone --filter=blob:none --no-checkout file://R D',
  ],
  'shared objects': ['clone --shared R D'],
  bare: ['clone --bare R D'],
  'packed refs': ['clone R D', '-C D gc', '-C D pack-refs --all'],
  subfolder: ['clone R D'],
  'bundle as origin': ['-C R bundle create D.bundle main', 'clone -b main D.bundle D'],
  'unborn branch': ['clone R D', '-C D checkout --orphan nothing'],
  'replaced commits': ['clone R D', '-C D replace --graft main'],
  'branch renamed': [
    'clone R D',
    '-C D branch -m main trunk',
    '-C D remote set-head origin -d',
    '-C D update-ref -d refs/remotes/origin/main',
  ],
  sha256: ['init --object-format=sha256 D'],
}

export const reported: ReportCase = {
  right: 'twelve kinds of repositories work, or are refused with the reason',
  before: 'right',
  async run(lab) {
    await lab.files({ 'c.yaml': configMap(lab.namespace, 'a: "1"') })
    await lab.repository({ 'README.md': 'second' })
    await lab.serverSide()
    await lab.patch('configmap/c', { data: { a: '2' } })
    for (const [index, [kind, commands]] of Object.entries(KINDS).entries())
      await tryKind(lab, kind, commands, join(lab.world.folder, `kind${index}`))
  },
}

async function tryKind(
  lab: Lab,
  kind: string,
  commands: readonly string[],
  folder: string,
): Promise<void> {
  for (const command of commands) {
    const words = command
      .split(' ')
      .map((word) => word.replace(/(^|\/\/)R$/, `$1${lab.world.repository}`).replace(/^D/, folder))
    await lab.world.git(...words)
  }
  if (kind === 'sha256') await commitIn(lab, folder)
  const diff = await lab.diffIn(kind === 'subfolder' ? join(folder, 'pkg') : folder)
  const works =
    diff.code === 1 && diff.lines.length === 1 && /data\.a "1" -> "2"/.test(diff.lines.join())
  const reason = { sha256: /sha-?256/i, 'unborn branch': /--branch/ }[kind]
  const scan = await lab.world.backporchIn(folder, {}, 'scan', 'pkg', '--cluster', 'lab')
  const isScanned = scan.code === 1 || (scan.code === 2 && /^ +fix: /m.test(scan.stderr))
  lab.check(`${kind}, scan`, isScanned, scan.code === 1 ? 'works' : say(scan))
  lab.check(
    kind,
    works || (diff.code === 2 && reason?.test(diff.stderr) === true),
    works ? 'works' : tell(diff),
  )
}

async function commitIn(lab: Lab, folder: string): Promise<void> {
  mkdirSync(join(folder, 'pkg'))
  writeFileSync(join(folder, 'pkg', 'c.yaml'), configMap(lab.namespace, 'a: "1"'))
  await lab.world.git('-C', folder, 'add', '--all')
  await lab.world.git('-C', folder, 'commit', '-qm', 'one')
}
