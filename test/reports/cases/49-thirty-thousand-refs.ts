/** argoproj/argo-cd#28650, #25508, #26428: a repository with 30,800 tags, branches and heads of pull requests. */
import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Lab, ReportCase } from '../lab.ts'
import { configMap } from '../manifests.ts'

/** Of this process's CPU, which says the same on a machine that does other things. */
const SECONDS = 15

export const reported: ReportCase = {
  right: 'with 30,800 refs each command takes seconds, and the revision after v300 is v301',
  before: 'right',
  async run(lab) {
    await lab.files({ 'c.yaml': configMap(lab.namespace, 'a: "1"') })
    await lab.serverSide()
    await lab.patch('configmap/c', { data: { a: '2' } })
    await addRefs(lab)
    await expectSeconds(lab, 1, 'diff', 'pkg')
    await expectSeconds(lab, 1, 'scan', 'pkg')
    await expectSeconds(lab, 1, 'status')
    await expectSeconds(lab, 0, 'get', 'packages')
    await expectSeconds(lab, 0, 'adopt', 'pkg')
    await expectSeconds(lab, 0, 'approve', 'pkg', '--yes')
    const isNext = (await lab.world.refs()).has('refs/tags/pkg/v301')
    lab.check('the next revision', isNext, isNext ? 'v301' : 'no pkg/v301')
  },
}

async function addRefs(lab: Lab): Promise<void> {
  const { repository } = lab.world
  const commit = await lab.world.remote('rev-parse', 'main')
  const many = (count: number, name: (index: number) => string): string[] =>
    Array.from({ length: count }, (_, index) => name(index + 1))
  const names = [
    ...many(20_000, (index) => `refs/tags/other-${index % 200}/v${Math.ceil(index / 200)}`),
    ...many(5_000, (index) => `refs/heads/feature/${index}`),
    ...many(5_000, (index) => `refs/pull/${index}/head`),
    ...many(300, (index) => `refs/tags/pkg/v${index}`),
    ...many(500, (index) => `refs/heads/drafts/other-${index}/w${index}`),
  ]
  if (existsSync(join(repository, 'packed-refs')))
    throw new Error('the new repository has packed refs already')
  appendFileSync(
    join(repository, 'packed-refs'),
    names
      .toSorted()
      .map((name) => `${commit} ${name}\n`)
      .join(''),
  )
}

async function expectSeconds(lab: Lab, code: number, ...args: readonly string[]): Promise<void> {
  const before = process.cpuUsage()
  const run = await lab.backporch(...args)
  const { user, system } = process.cpuUsage(before)
  const seconds = (user + system) / 1e6
  const isRight = run.code === code && seconds < SECONDS
  lab.check(
    args.join(' '),
    isRight,
    isRight
      ? `${args[0]} ${seconds.toFixed(1)} s of CPU`
      : `exit ${run.code}, ${seconds} s · ${run.stderr}`,
  )
}
