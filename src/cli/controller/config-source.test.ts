import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SharedWatches } from '../../controller/shared-watch.ts'
import type { Log } from '../../ports/log.ts'
import type { CliContext } from '../context/cli-context.ts'
import { ConfigSource } from './config-source.ts'
import type { ControllerOptions } from './repository-entry.ts'

const HEAD = 'apiVersion: backporch.dev/v1alpha1\nkind: ControllerConfig\nspec:\n  repositories:\n'
const fileWith = (...names: readonly string[]): string =>
  `${HEAD}${names.map((name) => `    - {repo: "https://git.example.com/acme/${name}", contexts: [prod]}\n`).join('')}`

function sourceOf(texts: readonly string[]): ConfigSource {
  const left = [...texts]
  const cli = {
    readConfig: async () => left.shift(),
    verdictFiles: () => undefined,
    packageMarks: () => undefined,
  } as unknown as CliContext
  const log: Pick<Log, 'bindRepository'> = { bindRepository: () => log as Log }
  return new ConfigSource('c.yaml', {} as ControllerOptions, cli, {
    log: log as Log,
    watches: new SharedWatches(),
  })
}

const namesOf = (
  entries: Awaited<ReturnType<ConfigSource['readNext']>>,
): readonly string[] | undefined => entries?.map(({ name }) => name)
const [ONE, OTHER] = ['git.example.com/acme/one', 'git.example.com/acme/other']

test('a changed file is used after two equal reads, or at once on request', async () => {
  const looked = sourceOf([fileWith('one'), fileWith('one', 'other'), fileWith('one', 'other')])
  assert.deepEqual(namesOf(await looked.readFirst()), [ONE])
  assert.deepEqual(
    [namesOf(await looked.readNext()), namesOf(await looked.readNext())],
    [undefined, [ONE, OTHER]],
  )
  const asked = sourceOf([fileWith('one'), fileWith('one', 'other'), fileWith('one', 'other')])
  await asked.readFirst()
  assert.deepEqual(
    [namesOf(await asked.readNext(true)), namesOf(await asked.readNext(true))],
    [[ONE, OTHER], undefined],
  )
})
