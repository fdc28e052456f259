/** A file of tests starts when the programs are there that it would build. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readImportGraph } from './import-graph.ts'
import { type Need, needsOf, tierOf } from './tiers.ts'

/** The modules that build a program where it is not there, and what the runner calls it. */
const BUILDS: { readonly [module: string]: Need } = {
  'test/appliers/appliers.ts': 'appliers',
  'test/appliers/flux-oracle.ts': 'appliers',
  'test/argo/programs.ts': 'Argo CD',
  'test/controlplane/find-control-plane.ts': 'control plane',
  'test/flux/find-flux.ts': 'Flux',
  'test/gitea/find-gitea.ts': 'Gitea',
  'test/helm/find-helm.ts': 'Helm',
  'test/sops/find-sops.ts': 'SOPS',
}
/** Worlds of commands can start a control plane: files of these tiers do not. */
const WITHOUT_PLANE = ['kpt', 'helm', 'sops', 'gitea']

const root = fileURLToPath(new URL('../..', import.meta.url))
const graph = readImportGraph(root, ['src', 'functions', 'test', 'bench'])

test('the list has every module that builds a program', () => {
  const building = graph.files.filter(
    (file) =>
      file.startsWith('test/') &&
      !file.startsWith('test/programs/') &&
      !file.endsWith('.test.ts') &&
      /\bawait ensureProgram\(/.test(graph.textOf(file)),
  )
  assert.deepEqual(building, Object.keys(BUILDS).sort())
})

test('every file waits for the programs that it would build itself', () => {
  const early = graph.files
    .filter((file) => file.endsWith('.test.ts') && tierOf(file) !== 'unit')
    .flatMap((file) => {
      const [needs, closure] = [needsOf(file, graph), graph.closureOf(file)]
      return Object.entries(BUILDS)
        .filter(([module, need]) => closure.has(module) && !needs.has(need))
        .filter(([, need]) => need !== 'control plane' || !WITHOUT_PLANE.includes(tierOf(file)))
        .map(([, need]) => `${file}: ${need}`)
    })
  assert.deepEqual(early, [])
})
