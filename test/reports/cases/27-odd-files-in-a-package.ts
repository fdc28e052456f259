/** git-lfs/git-lfs#6187: manifests that are LFS pointers, or links, which kubectl and kpt follow. */
import { rmSync, symlinkSync } from 'node:fs'
import { type Lab, type ReportCase, tell } from '../lab.ts'
import { configMap } from '../manifests.ts'

const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'4d7a2146'.repeat(8)}\nsize 12345\n`

export const reported: ReportCase = {
  right: 'a manifest that is a pointer or a link is compared, or named with exit 3; never silence',
  before: 'exit 0 and a note that -q hides',
  async run(lab) {
    await lab.files({ 'c.yaml': configMap(lab.namespace, 'a: "1"') })
    await lab.serverSide()
    lab.checkQuiet('before', await lab.diff())

    await lab.files({ 'big.yaml': POINTER })
    await expectSaid(lab, 'a pointer beside it', 'big.yaml')
    await lab.files({ 'c.yaml': null })
    await expectSaid(lab, 'pointers only', 'big.yaml')
    await lab.files({ 'big.yaml': null, 'c.yaml': configMap(lab.namespace, 'a: "1"') })

    await lab.repository({ 'shared.yaml': configMap(lab.namespace, 'a: "1"', 'shared') })
    await link(lab, '../shared.yaml', 'shared.yaml')
    await lab.serverSide()
    await lab.patch('configmap/shared', { data: { a: '9' } })
    await expectSaid(lab, 'a link out of the package', 'shared.yaml')
    await link(lab, 'c.yaml', 'shared.yaml')
    await lab.patch('configmap/c', { data: { a: '2' } })
    const linked = await lab.diff('pkg', '-q')
    lab.check(
      'a link to another manifest',
      linked.code === 1 && linked.lines.length === 1,
      tell(linked),
    )
    for (const [label, target] of [
      ['a broken link', 'nowhere.yaml'],
      ['a link to itself', 'shared.yaml'],
    ] as const) {
      await link(lab, target, 'shared.yaml')
      await expectSaid(lab, label, 'shared.yaml')
    }
  },
}

async function link(lab: Lab, target: string, file: string): Promise<void> {
  rmSync(lab.path(file), { force: true })
  symlinkSync(target, lab.path(file))
  await lab.repository({})
}

/** Quiet or not: `-q` hides no file that is not read. */
async function expectSaid(lab: Lab, label: string, file: string): Promise<void> {
  const diff = await lab.diff('pkg', '-q')
  const said = tell(diff)
  const isCompared = diff.code === 1 && /ConfigMap\/shared data\.a "1" -> "9"/.test(said)
  lab.check(
    label,
    isCompared || ([2, 3].includes(diff.code) && (await lab.told()).includes(file)),
    said,
  )
}
