import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { listConfiguredClusters, nameOfRepository } from './controller-config.ts'
import { parseControllerConfig } from './parse-controller-config.ts'

const HEAD = 'apiVersion: backporch.dev/v1alpha1\nkind: ControllerConfig\nspec:\n  repositories:\n'
const file = (...repositories: readonly string[]): string =>
  `${HEAD}${repositories.map((one) => `    - ${one}\n`).join('')}`

/** The lines of the reason. */
function problems(text: string): string[] {
  try {
    parseControllerConfig({ path: 'c.yaml', text })
  } catch (thrown) {
    assert.ok(thrown instanceof Failure)
    assert.equal(thrown.code, 'BP1005')
    return thrown.why.split('\n').map((line) => line.trim())
  }
  return []
}

test('the example of the guide is valid', () => {
  const guide = readFileSync(new URL('../../../docs/guides/controller.md', import.meta.url), 'utf8')
  const [, example = ''] =
    /```yaml\n(apiVersion: backporch\.dev\/v1alpha1\nkind: ControllerConfig\n[\s\S]*?)```/.exec(
      guide,
    ) ?? []
  const repositories = parseControllerConfig({ path: 'controller.yaml', text: example })
  assert.ok(repositories.length >= 2)
  assert.ok(repositories.every((repository) => listConfiguredClusters(repository).length > 0))
})

test('all problems are reported at once, each with its line', () => {
  const text = file(
    '{repo: https://git.example.com/a/b, contexts: [prod], tokn: x}',
    '{repo: https://git.example.com/a/c, contexts: []}',
    '{contexts: [prod], interval: 25h}',
    '{repo: https://git.example.com/a/d, forge: gitlub, contexts: [prod], selector: "a in"}',
    '{repo: https://git.example.com/a/e}',
    '{repo: https://git.example.com/a/f, contexts: [a], clusters: [{context: b}]}',
  )
  const found = problems(text)
  const wanted: readonly [number, RegExp][] = [
    [5, /unknown field spec\.repositories\.0\.tokn/],
    [6, /wanted at least one cluster/],
    [7, /spec\.repositories\.2\.repo/],
    [7, /wanted a duration from 1s to 24h/],
    [8, /spec\.repositories\.3\.forge/],
    [8, /spec\.repositories\.3\.selector/],
    [9, /wanted contexts or clusters/],
    [10, /not both/],
  ]
  for (const [line, sentence] of wanted)
    assert.ok(
      found.some((one) => one.startsWith(`c.yaml:${line}: `) && sentence.test(one)),
      `${line} ${sentence}: ${found.join('\n')}`,
    )
  assert.equal(found.length, wanted.length, found.join('\n'))
})

test('rejects a file that is not one ControllerConfig document', () => {
  assert.match(problems('').join(), /it is empty/)
  assert.match(problems('# nothing\n').join(), /it is empty|the document/)
  assert.match(problems('a: [').join(), /c\.yaml:1/)
  assert.match(problems('apiVersion: v1\nkind: ConfigMap\n').join(), /kind/)
  assert.match(
    problems(`${file('{repo: a, contexts: [b]}')}---\na: b\n`).join(),
    /a second document/,
  )
  assert.match(problems(`${HEAD}    []\n`).join(), /wanted at least one repository/)
  assert.match(problems(file('{repo: a, repo: b, contexts: [c]}')).join(), /keys are unique/)
})

test('rejects a duplicate repository, however its address is written', () => {
  const addresses = [
    'https://git.example.com/acme/deploy',
    'https://git.example.com/acme/deploy.git',
    'https://ada@git.example.com/acme/deploy/',
    'https://git.example.com:443/Acme/Deploy',
    'ssh://git@git.example.com:2222/acme/deploy.git',
    'git@git.example.com:acme/deploy.git',
  ]
  for (const address of addresses.slice(1)) {
    const [found = '', ...more] = problems(
      file(
        `{repo: ${JSON.stringify(addresses[0])}, contexts: [a]}`,
        `{repo: ${JSON.stringify(address)}, contexts: [b]}`,
      ),
    )
    assert.deepEqual(more, [], address)
    assert.match(
      found,
      /^c\.yaml:6: spec\.repositories\.1\.repo: the repository is already at c\.yaml:5; name it once/,
      address,
    )
  }
  assert.equal(
    problems(file('{repo: ./deploy/, contexts: [a]}', '{repo: deploy, contexts: [b]}')).length,
    1,
  )
  assert.equal(
    problems(
      file(
        '{repo: https://x.example.com/a/b, contexts: [a]}',
        '{repo: https://x.example.com/a/c, contexts: [a]}',
      ),
    ).length,
    0,
  )
})

test('web servers on different ports have different repositories, with the port in the name', () => {
  const addresses = [
    'http://127.0.0.1:3000/bot/deploy',
    'http://127.0.0.1:4000/bot/deploy',
    'https://127.0.0.1/bot/deploy',
  ]
  assert.deepEqual(
    problems(file(...addresses.map((repo) => `{repo: "${repo}", contexts: [a]}`))),
    [],
  )
  assert.deepEqual(addresses.map(nameOfRepository), [
    '127.0.0.1:3000/bot/deploy',
    '127.0.0.1:4000/bot/deploy',
    '127.0.0.1/bot/deploy',
  ])
})

for (const [address, name] of [
  ['https://ada@git.example.com:443/Acme/Deploy.git', 'git.example.com/acme/deploy'],
  ['https://git.example.com:8443/acme/deploy', 'git.example.com:8443/acme/deploy'],
  ['http://[::1]:3000/acme/deploy', '[::1]:3000/acme/deploy'],
  ['ssh://git@git.example.com:2222/acme/deploy.git', 'git.example.com/acme/deploy'],
  ['git@git.example.com:acme/deploy.git', 'git.example.com/acme/deploy'],
  ['git@[::1]:acme/deploy.git', '[::1]/acme/deploy'],
  ['./deploy', './deploy'],
] as const)
  test(`the name of ${address} is ${name}`, () => assert.equal(nameOfRepository(address), name))

test('cluster names are unique per repository, and each name means one context', () => {
  const same = file('{repo: a, contexts: [prod]}', '{repo: b, clusters: [{context: prod}]}')
  assert.deepEqual(problems(same), [])
  const twice = file('{repo: a, contexts: [prod, prod]}')
  assert.match(
    problems(twice).join(),
    /^c\.yaml:5: the repository has two clusters with the name of this one/,
  )
  const other = file(
    '{repo: a, contexts: [prod]}',
    '{repo: b, clusters: [{name: prod, context: eu}]}',
  )
  assert.match(
    problems(other).join(),
    /^c\.yaml:6: another cluster has the name of this one, at c\.yaml:5/,
  )
  const kubeconfig = file(
    '{repo: a, contexts: [prod]}',
    '{repo: b, clusters: [{context: prod, kubeconfig: /k}]}',
  )
  assert.match(problems(kubeconfig).join(), /another cluster has the name/)
  const renamed = file(
    '{repo: a, contexts: [prod]}',
    '{repo: b, clusters: [{name: eu, context: prod}]}',
  )
  assert.match(problems(renamed).join(), /^c\.yaml:6: the cluster has another name at c\.yaml:5/)
})

test('a credential in the file is rejected with a remedy and is not printed', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`
  for (const address of [
    `https://${token}@github.com/a/b`,
    `https://x-access-token:${token}@github.com/a/b`,
    'https://ada:hunter2@git.example.com/a/b',
  ]) {
    const [found = '', ...more] = problems(
      file(`{repo: ${JSON.stringify(address)}, contexts: [prod]}`),
    )
    assert.deepEqual(more, [])
    assert.match(
      found,
      /^c\.yaml:5: spec\.repositories\.0\.repo: it holds a credential, .* give it in the environment/,
    )
    assert.doesNotMatch(found, /ghp_|hunter2/)
  }
  assert.deepEqual(problems(file('{repo: "https://name@dev.azure.com/a/b", contexts: [prod]}')), [])
  assert.deepEqual(problems(file('{repo: "ssh://git@github.com/a/b", contexts: [prod]}')), [])
})
