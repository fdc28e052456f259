import { configMap, crlf, kptfile, type RenderCase, text } from '../render-case.ts'

/** Packages without a pipeline: what reading and writing alone do to a file. */
export const formatting: readonly RenderCase[] = [
  {
    name: 'formatting-spaces',
    about: 'Spaces inside and behind values, wide indentation and blank lines are normalised.',
    files: {
      Kptfile: kptfile(),
      'a.yaml': text`
        apiVersion:   v1
        kind: ConfigMap   

        metadata:
            name:     spaced
            labels:
                app:    web

        data:


            key: "value"   
      `,
    },
  },
  {
    name: 'formatting-lists-compact-and-wide',
    about: 'The style of lists is kept per document, also where both are in one file.',
    files: {
      Kptfile: kptfile(),
      'compact.yaml': configMap('compact', 'list:\n- a\n- b:\n  - c\n  - d\n'),
      'wide.yaml': configMap('wide', 'list:\n  - a\n  - b:\n      - c\n      - d\n'),
      'both.yaml': `${configMap('first', 'list:\n  - a\n')}---\n${configMap('second', 'list:\n- a\n')}---\n${configMap('third', 'one:\n- a\ntwo:\n  - b\n')}`,
      'odd.yaml': configMap('odd', 'list:\n     - a\n     - b\nother:\n - c\n'),
    },
  },
  {
    name: 'formatting-lists-first-decides',
    about: 'The first list of a document decides, even one inside of a block scalar or a comment.',
    files: {
      Kptfile: kptfile(),
      'text.yaml': configMap('in-text', 'data:\n  script: |\n    items:\n      - a\nlist:\n- a\n'),
      'comment.yaml': configMap('in-comment', '# list:\n#   - a\nlist:\n- a\n'),
      'flow.yaml': configMap('in-flow', 'one: [a, b]\nlist:\n  - a\n'),
      'nested.yaml': configMap('nested', 'lists:\n- - a\n  - b\n-   - c\n'),
      'top.yaml': configMap('deep', 'spec:\n  one:\n  - a\n  two:\n    three:\n      - b\n'),
    },
  },
  {
    name: 'formatting-flow',
    about: 'Flow maps and lists stay in flow style, on one line.',
    files: {
      Kptfile: kptfile(),
      'a.yaml': text`
        {apiVersion: v1, kind: ConfigMap, metadata: {name: all-flow}, data: {a: "1",   b: 'two'}}
      `,
      'b.yaml': configMap(
        'some-flow',
        'labels: { app: web,tier : front }\nlist: [ a,b , {c: d} ]\nempty: {}\nnone: []\n',
      ),
      'c.yaml': configMap(
        'many-lines',
        'list: [\n  one,\n  two, # second\n  three,\n]\nmap: {\n  a: b,\n  c: d\n}\n',
      ),
    },
  },
  {
    name: 'formatting-anchors',
    about: 'Anchors, aliases and merge keys are kept as they are written.',
    files: {
      Kptfile: kptfile(),
      'a.yaml': configMap(
        'anchors',
        text`
          base: &base
            cpu: 100m
            memory: 64Mi
          same: *base
          more:
            <<: *base
            cpu: 200m
          several:
            <<: [*base, *base]
          name: &name web
          list:
          - *name
          - &second two
          - *second
        `,
      ),
    },
  },
  {
    name: 'formatting-carriage-returns',
    about: 'Windows line breaks become plain ones, in every file that has an object.',
    files: {
      Kptfile: crlf(kptfile()),
      'a.yaml': crlf(
        `# head\n${configMap('windows', 'data:\n  text: |\n    one\n    two\n  key: "a" # line\n')}---\n${configMap('second')}`,
      ),
      'only-comments.yaml': crlf('# nothing\n'),
    },
  },
  {
    name: 'formatting-ends',
    about:
      'A file without a line break at its end, with several, and with spaces behind the last object.',
    files: {
      Kptfile: kptfile().trimEnd(),
      'none.yaml': configMap('none', 'data:\n  a: b').trimEnd(),
      'several.yaml': `${configMap('several')}\n\n\n`,
      'spaces.yaml': `${configMap('spaces')}  \n   \n`,
      'separator.yaml': `${configMap('separator')}---\n`,
      'separator-bare.yaml': `${configMap('separator-bare')}---`,
      'leading.yaml': `\n\n${configMap('leading')}`,
      'text-end.yaml': configMap('text-end', 'data:\n  a: |\n    text').trimEnd(),
    },
  },
  {
    name: 'formatting-key-styles',
    about: 'Keys in quotes, with dots and slashes, empty, numeric and complex ones.',
    files: {
      Kptfile: kptfile(),
      'a.yaml': configMap(
        'keys',
        text`
          data:
            "quoted": a
            'single': b
            dotted.key/with-slash: c
            "has: colon": d
            "": empty
            1: number
            1.5: fraction
            true: boolean
            "true": text
            "yes": text
            ? explicit
            : value
            key with spaces: e
            "#hash": f
            -dash: g
        `,
      ),
    },
  },
  {
    name: 'formatting-null-keys',
    about: 'Keys that are null: kpt keeps them as they are written.',
    weRefuse: 'a key that is null is no key of a Kubernetes object',
    files: {
      Kptfile: kptfile(),
      'a.yaml': configMap(
        'null-keys',
        'data:\n  null: word\n  ~: tilde\n  ? explicit\n  : value\n',
      ),
    },
  },
  {
    name: 'formatting-long-lines',
    about: 'Long plain, quoted and flow values are not folded.',
    files: {
      Kptfile: kptfile(),
      'a.yaml': configMap(
        'long',
        `data:\n  plain: ${'word '.repeat(60).trim()}\n  double: "${'word '.repeat(60).trim()}: x"\n  single: '${'word '.repeat(60).trim()} #'\n  token: ${'abcdefghij'.repeat(40)}\n  flow: [${Array.from({ length: 40 }, (_, at) => `item-${at}`).join(', ')}]\n  map: {${Array.from({ length: 30 }, (_, at) => `key-${at}: value-${at}`).join(', ')}}\n`,
      ),
    },
  },
  {
    name: 'formatting-depth',
    about: 'Maps in lists in maps, deep, with empty values at the ends.',
    files: {
      Kptfile: kptfile(),
      'a.yaml': configMap(
        'deep',
        text`
          spec:
              template:
                  spec:
                      containers:
                      -   name: web
                          env:
                          -   name: A
                              value: ""
                          -
                              name: B
                              value:
                          args: ["-v",   "x"]
                      - name: second
                        empty: {}
                        lists: []
                        nothing:
        `,
      ),
    },
  },
  {
    name: 'formatting-kubernetes-order-kept',
    about: 'Fields stay in the order in which they are written: nothing is sorted.',
    files: {
      Kptfile: text`
        kind: Kptfile
        metadata:
          annotations:
            config.kubernetes.io/local-config: "true"
          name: root
        apiVersion: kpt.dev/v1
        info:
          keywords: [a, b]
          description: turned around
      `,
      'a.yaml': text`
        status: {}
        spec:
          replicas: 1
        metadata:
          namespace: shop
          name: web
        kind: Deployment
        apiVersion: apps/v1
      `,
    },
  },
]
