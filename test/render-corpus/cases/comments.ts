import { configMap, kptfile, mutated, type RenderCase, text } from '../render-case.ts'

const everywhere = text`
  # above everything

  # head of apiVersion
  apiVersion: v1 # line of apiVersion
  # head of kind
  kind: ConfigMap # line of kind
  # head of metadata
  metadata: # line of metadata
    # head of name
    name: commented # line of name
    # foot of name

    # head of labels
    labels:
      # head of app
      app: web # line of app
      # foot of app
    # foot of labels
  # head of data
  data:
    # head of a
    a: one # line of a
    # foot of a

    b: two
    # last in data
  # head of list
  list:
  # head of the first
  - first # line of the first
  # between
  - second
  # foot of the list
  # foot of everything
`

/** Comments at every place, through nothing, through a function that changes nothing near, and on what a function changes. */
export const comments: readonly RenderCase[] = [
  {
    name: 'comments-everywhere',
    about: 'Comments above, beside and below every kind of node, without a function.',
    files: { Kptfile: kptfile(), 'a.yaml': everywhere },
  },
  {
    name: 'comments-through-a-function',
    about:
      'The same file through a function: comments that the ResourceList cannot carry are put back.',
    files: { Kptfile: mutated('{exec: corpus-identity}'), 'a.yaml': everywhere },
  },
  {
    name: 'comments-through-two-functions',
    about: 'A second function reads what was put back after the first.',
    files: {
      Kptfile: mutated('{exec: corpus-identity}', '{exec: set-labels, configMap: {tier: front}}'),
      'a.yaml': everywhere,
    },
  },
  {
    name: 'comments-on-a-changed-value',
    about: 'Comments on the fields that set-labels, set-annotations and set-namespace change.',
    files: {
      Kptfile: mutated(
        '{exec: set-labels, configMap: {app: shop}}',
        '{exec: set-annotations, configMap: {owner: team-a}}',
        '{exec: set-namespace, configMap: {namespace: shop}}',
      ),
      'a.yaml': text`
        apiVersion: v1
        kind: Service
        metadata: # about this Service
          name: web
          # where it lives
          namespace: old # for now
          labels:
            # which app
            app: web # the old name
          annotations:
            # who
            owner: nobody # at the moment
        spec:
          # what it selects
          selector: # by label
            app: web # by name
      `,
    },
  },
  {
    name: 'comments-between-documents',
    about:
      'Comments around separators: above the first document, behind a separator, below the last.',
    files: {
      Kptfile: kptfile(),
      'a.yaml': `# at the top\n---\n# first\n${configMap('first')}# below the first\n\n# far below\n---\n\n# second, after a blank line\n\n${configMap('second')}--- # beside the separator\n${configMap('third')}# the end\n`,
      'b.yaml': `# licence\n# of two lines\n\n${configMap('licensed')}`,
      'c.yaml': `---\n# only here\n\n\n# and here\n${configMap('twice')}\n# the end, after a blank line\n`,
    },
  },
  {
    name: 'comments-between-documents-through-a-function',
    about: 'The same separators with a function.',
    files: {
      Kptfile: mutated('{exec: set-annotations, configMap: {a: b}}'),
      'a.yaml': `# at the top\n---\n# first\n${configMap('first')}# below the first\n\n# far below\n---\n\n# second, after a blank line\n\n${configMap('second')}--- # beside the separator\n${configMap('third')}# the end\n`,
      'b.yaml': `# licence\n# of two lines\n\n${configMap('licensed')}`,
      'c.yaml': `---\n# only here\n\n\n# and here\n${configMap('twice')}\n# the end, after a blank line\n`,
    },
  },
  {
    name: 'comments-in-lists',
    about:
      'Comments on list entries that are maps, on their first and later keys, and on empty values.',
    files: {
      Kptfile: mutated('{exec: corpus-identity}'),
      'a.yaml': text`
        apiVersion: apps/v1
        kind: Deployment
        metadata:
          name: web
        spec:
          template:
            spec:
              containers:
              # the one that serves
              - name: web # main
                # which image
                image: web:1 # pinned
                env:
                # first variable
                - name: A
                  value: "1" # one
                # second variable

                - name: B
                  value: "2"
                # after the variables
              # the one that helps
              -
                # its name
                name: side
                image: side:1
                args: # of side
                - -v # loud
                -   # nothing here
              # at the end of containers
      `,
      'b.yaml': configMap(
        'flow',
        'data: {a: b} # behind a flow map\nlist: [a, b] # behind a flow list\nempty: {} # behind an empty map\nnothing: # behind nothing\nlast:\n  # only a comment\n',
      ),
    },
  },
  {
    name: 'comments-wide-lists',
    about: 'Comments in lists that are indented, through a function.',
    files: {
      Kptfile: mutated('{exec: corpus-identity}'),
      'a.yaml': configMap(
        'wide',
        'spec:\n  # head of list\n  list: # line of list\n    # head of a\n    - a # line of a\n    # head of b\n    - name: b # line of b\n      # head of value\n      value: c\n    # foot of b\n  # foot of list\n',
      ),
    },
  },
  {
    name: 'comments-above-list-entries',
    about: 'Comments above entries that are lists or maps with comments of their own.',
    files: {
      Kptfile: kptfile(),
      'a.yaml': configMap(
        'lists',
        'lists:\n  # first, indented\n- - a\n  - b\n\n# second\n\n-   - c\n',
      ),
      'b.yaml': configMap(
        'maps',
        'spec:\n  # head of list\n  list: # line of list\n    # head of a\n    - a # line of a\n    # head of b\n    - name: b # line of b\n      # head of value\n      # p0\n\n      # q0\n      value: c\n    # foot of b\n  # foot of list\n',
      ),
    },
  },
  {
    name: 'comments-at-the-end-through-functions',
    about:
      'A comment behind an object, after a blank line: two functions move it to the object behind it in the list.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-identity}',
        '{exec: corpus-identity}',
        '{exec: corpus-identity}',
      ),
      'a.yaml': `${configMap('a')}\n# after a\n`,
      'b.yaml': `${configMap('b')}# right below b\n`,
      'c.yaml': configMap('c'),
      'd.yaml': '{apiVersion: v1, kind: ConfigMap, metadata: {name: d}}\n\n# after d\n',
      'e.yaml': `# above e\n\n${configMap('e')}---\n\n\n# above f\n\n${configMap('f')}\n# after f\n`,
    },
  },
  {
    name: 'comments-odd-shapes',
    about:
      'Comments without a space, with several hashes, with tabs, indented differently, and on block scalars.',
    files: {
      Kptfile: kptfile('#no space\n##  two\n'),
      'a.yaml': configMap(
        'odd',
        text`
          #no space
          a: b #no space
          ## two hashes
          c: d	# behind a tab
              # indented too far
          e: f
          # less

          #

          # an empty one above
          script: | # on the indicator
            # not a comment
            text
          # below the text
          folded: >- # folded
            one
            two
          quoted: "a # b" # after quotes
          url: http://host/#fragment
        `,
      ),
    },
  },
  {
    name: 'comments-lost-with-their-field',
    about:
      'Comments on an object that is deleted, on the object after it, and on one that is renamed.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-delete, configMap: {name: gone}}',
        '{exec: corpus-rename, configMap: {name: before, to: after}}',
      ),
      'a.yaml': `# top of file\n\n# above gone\n${configMap('gone', '# in gone\ndata: {}\n')}# below gone\n---\n# above before\n${configMap('before', 'data:\n  a: b # kept\n')}# the end\n`,
      'b.yaml': `# all of it goes\n${configMap('gone')}`,
    },
  },
  {
    name: 'comments-setters',
    about:
      'Setter comments beside values, on list keys and on flow lists stay where they are after a change.',
    files: {
      Kptfile: mutated(
        '{exec: apply-setters, configMap: {name: shop, replicas: "5", envs: "[dev, prod]"}}',
      ),
      'a.yaml': text`
        # about web
        apiVersion: apps/v1
        kind: Deployment
        metadata:
          name: web # kpt-set: \${name}
          # envs below
          environments: # kpt-set: \${envs}
          - test
        spec:
          replicas: 3 # kpt-set: \${replicas}
          flow: [test] # kpt-set: \${envs}
          # nothing to set
          other: kept # a remark
      `,
    },
  },
]
