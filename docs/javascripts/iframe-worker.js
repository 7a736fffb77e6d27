// A browser starts no worker for a page that was opened from the disk. There the search's script runs in a hidden
// frame, which stands in for the worker: the same messages in both directions, and importScripts.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.addEventListener("load", () => this.load(new URL(script, location)), { once: true });
      document.body.append(this.frame);
    }

    load(address) {
      const inside = this.frame.contentWindow;
      const add = (url) =>
        new Promise((loaded, failed) => {
          const element = inside.document.createElement("script");
          element.onload = loaded;
          element.onerror = failed;
          element.src = new URL(url, address);
          inside.document.body.append(element);
        });
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...urls) => urls.reduce((before, url) => before.then(() => add(url)), Promise.resolve());
      add(address).then(() => {
        for (const data of this.waiting) this.deliver(data);
        this.waiting = null;
      });
    }

    deliver(data) {
      this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.deliver(data);
    }

    terminate() {
      this.frame.remove();
    }
  };
}
