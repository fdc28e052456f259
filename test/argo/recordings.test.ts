/** That the recordings are of the cases of today, and of the versions that `programs.ts` builds. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { CASES, GROUPS } from './cases/all-cases.ts'
import { VERSIONS } from './programs.ts'
import { digestOfCases, readRecording } from './recording.ts'

it('the recorded versions are those of the built programs', () => {
  const required = {
    generate: `github.com/argoproj/argo-cd/v3 ${VERSIONS['argo-cd']}`,
    helm: `helm.sh/helm/v3 ${VERSIONS.helm}`,
  }
  const tools = {
    ...required,
    kustomize: `sigs.k8s.io/kustomize/kustomize/v5 ${VERSIONS.kustomize}`,
  }
  for (const [name, line] of Object.entries({ ...tools, 'application-sets': required.generate }))
    assert.match(
      readFileSync(new URL(`../programs/argo/${name}/go.mod`, import.meta.url), 'utf8'),
      new RegExp(`^\t${line}( |$)`, 'm'),
    )
})

const LEAST = {
  helm: 150,
  directory: 150,
  kustomize: 100,
  'random-directory': 200,
  'random-kustomize': 100,
}

for (const group of GROUPS)
  describe(`the recording of ${group}`, () => {
    const { made, inputs, cases } = readRecording(group)

    it('names its versions and its command', () => {
      const { command, ...versions } = made
      assert.equal(command, `node test/argo/record.ts ${group}`)
      assert.partialDeepStrictEqual(VERSIONS, versions)
      assert.equal(versions['argo-cd'], VERSIONS['argo-cd'])
    })

    it('has the current cases', () => {
      assert.ok(Object.keys(CASES[group]).length >= LEAST[group])
      assert.equal(
        inputs,
        digestOfCases(CASES[group]),
        `the cases differ from those that were recorded: run ${made.command}`,
      )
      assert.deepEqual(Object.keys(cases), Object.keys(CASES[group]))
    })

    it('has objects or an error for each case', () => {
      for (const [name, { objects, error }] of Object.entries(cases))
        assert.ok((objects === undefined) !== (error === undefined), name)
    })
  })

describe('the recording of helm', () => {
  it('has the command line of each chart that Argo CD renders with helm', () => {
    for (const [name, { types = [], helm = [] }] of Object.entries(readRecording('helm').cases))
      assert.equal(
        helm.some(({ args }) => args[0] === 'template') || !types.includes('Helm'),
        true,
        name,
      )
  })

  it('contains no path of the machine that recorded it', () => {
    for (const { helm = [], error = '' } of Object.values(readRecording('helm').cases))
      for (const text of [error, ...helm.flatMap(({ folder, args }) => [folder, ...args])])
        assert.doesNotMatch(text, /\/tmp|\/root|\/home/)
  })
})
