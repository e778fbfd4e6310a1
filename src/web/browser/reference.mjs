// Swagger UI, with what this service needs of it: the session is a cookie, which the browser sends by itself.
const { SwaggerUIBundle } = globalThis;

/** What its own layout has beside the operations is on this page already, or sets credentials, which are no cookie. */
function reference({ React: { createElement } }) {
  const Reference = ({ getComponent, specSelectors }) =>
    createElement(
      'div',
      { className: 'swagger-ui' },
      createElement(getComponent('SvgAssets')),
      createElement(getComponent('errors', true)),
      createElement(getComponent('Markdown', true), { source: specSelectors.info().get('description') ?? '' }),
      createElement(getComponent('operations', true)),
    );
  const named = (name) => (Original) => (props) => createElement(Original, { 'aria-label': name, ...props });
  const unseen = (words) => createElement('span', { className: 'unseen' }, words);
  return {
    components: { Reference },
    wrapComponents: {
      authorizeOperationBtn: () => () => null,
      // A link within a button is none for a keyboard.
      DeepLink:
        () =>
        ({ text }) =>
          createElement('span', null, text),
      // Those who hear the page would be told no name of these.
      TextArea: named('Body'),
      Input: (Original) => (props) => named(props.type === 'file' ? 'File' : 'Value')(Original)(props),
      JSONSchema202012Accordion: (Original) => (props) =>
        createElement(Original, props, unseen('Schema '), props.children),
    },
  };
}

const dark = matchMedia('(prefers-color-scheme: dark)');
const shade = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', shade);
shade();

const description = await (await fetch('openapi.json')).json();
SwaggerUIBundle({
  // This page may have come by another address than clients have, and may ask no other.
  spec: { ...description, servers: [{ url: new URL('.', document.baseURI).href }] },
  dom_id: '#swagger',
  plugins: [reference],
  layout: 'Reference',
  tryItOutEnabled: true,
  deepLinking: true,
  docExpansion: 'list',
  displayRequestDuration: true,
  syntaxHighlight: { theme: 'tomorrow-night' },
  // Its own would ask a service elsewhere.
  validatorUrl: null,
});
